// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is looked for and put in its place is code.

import type { Mutant } from './mutant.js';

/** Posts, their images and their likes. */
export const posts: Mutant[] = [
  {
    breach: 'everybody can edit every post',
    file: 'db/posts.ts',
    find: 'id = ${id} and author_id = ${author}',
    replace: 'id = ${id}',
    caughtBy: ['posts.edit.author-only'],
  },
  {
    breach: 'everybody can delete every post',
    file: 'db/posts.ts',
    find: 'id = ${id} and author_id = ${author}',
    replace: 'id = ${id}',
    caughtBy: ['posts.delete.author-only'],
  },
  {
    breach: 'liking twice fails',
    file: 'db/graph/embedded.ts',
    find: 'on conflict do nothing`',
    replace: '`',
    caughtBy: ['likes.like.idempotent'],
  },
  {
    breach: 'everybody seems to like what somebody likes',
    file: 'handlers/views.ts',
    find: 'liked_by_me: likes.liked',
    replace: 'liked_by_me: likes.count > 0',
    caughtBy: ['posts.liked-by-me.own-likes'],
  },
  {
    breach: 'a file is taken for what it is declared to be',
    file: 'handlers/http/forms.ts',
    find: 'canonicalMediaType(declared) !== mediaType',
    replace: 'declared === mediaType + "x"',
    caughtBy: ['uploads.type.png.create', 'uploads.type.jpeg.edit', 'uploads.type.gif.profile'],
  },
  {
    breach: 'an image’s last byte is altered',
    file: 'handlers/http/forms.ts',
    find: 'yield chunk;',
    replace: 'yield chunk.map((byte, at) => (at === chunk.length - 1 ? byte ^ 1 : byte));',
    caughtBy: ['uploads.type.png.create', 'uploads.type.avif.profile'],
  },
  {
    breach: 'an image may be sniffed for another type',
    file: 'handlers/http/images.ts',
    find: `'Content-Security-Policy': "default-src 'none'; sandbox",`,
    replace: '',
    caughtBy: ['images.download.headers', 'document.getPostImage'],
  },
  {
    breach: 'account deletion leaves the posts',
    file: 'db/accounts.ts',
    find: `trx .deleteFrom('posts') .where('author_id', '=', checked.id) .returning(['id', 'image']) .execute()`,
    replace: `trx.selectFrom('posts').where('author_id', '=', -1).select(['id', 'image']).execute()`,
    caughtBy: ['accounts.delete.posts', 'accounts.delete.images'],
  },
  {
    breach: 'account deletion leaves likes and friendships',
    file: 'db/accounts.ts',
    find: `{ kind: 'person', key: checked.id },`,
    replace: '',
    caughtBy: ['accounts.delete.likes'],
  },
  {
    breach: 'posts are listed the oldest first',
    file: 'db/posts.ts',
    find: 'posts.created_at desc, posts.id desc',
    replace: 'posts.created_at, posts.id',
    caughtBy: ['posts.list.newest-first', 'posts.list-own.own-posts'],
  },
  {
    breach: 'times are told to the second',
    file: 'handlers/views.ts',
    find: 'created_at: post.created_at',
    replace: 'created_at: `${post.created_at.slice(0, 19)}Z`',
    caughtBy: ['posts.create.created-at'],
  },
];
