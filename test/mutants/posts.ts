// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the snippets are code.

import type { Mutants } from './mutant.js';

export const posts: Mutants = {
  'every user can edit and delete every post': {
    file: 'db/posts.ts',
    find: 'id = ${id} and author_id = ${author}',
    replace: 'id = ${id}',
    caughtBy: ['visibility.edit.public', 'visibility.delete.public'],
  },
  'liking twice fails': {
    file: 'db/graph/tables.ts',
    find: 'order by 1, 2 on conflict do nothing`',
    replace: 'order by 1, 2`',
    caughtBy: ['likes.like.idempotent'],
  },
  'liked_by_me is true if any user likes the post': {
    file: 'handlers/views.ts',
    find: 'liked_by_me: liked',
    replace: 'liked_by_me: count > 0',
    caughtBy: ['posts.liked-by-me.own-likes'],
  },
  'the declared type of a file is not checked against its bytes': {
    file: 'handlers/http/forms.ts',
    find: 'canonicalMediaType(declared) !== mediaType',
    replace: 'declared === mediaType + "x"',
    caughtBy: ['uploads.type.png.create', 'uploads.type.jpeg.edit', 'uploads.type.gif.profile'],
  },
  'the last byte of an image is altered': {
    file: 'handlers/http/forms.ts',
    find: 'yield chunk;',
    replace: 'yield chunk.map((byte, at) => (at === chunk.length - 1 ? byte ^ 1 : byte));',
    caughtBy: ['uploads.type.png.create', 'uploads.type.avif.profile'],
  },
  'images lack the Content-Security-Policy header': {
    file: 'handlers/http/images.ts',
    find: `'Content-Security-Policy': "default-src 'none'; sandbox",`,
    replace: '',
    caughtBy: ['images.download.headers', 'document.getPostImage'],
  },
  'account deletion keeps the posts': {
    file: 'db/accounts.ts',
    find: '(await postsOfAccount.execute()).map(({ id }) => id)',
    replace: '[]',
    caughtBy: ['accounts.delete.posts', 'accounts.delete.images'],
  },
  'account deletion keeps likes and friendships': {
    file: 'db/accounts.ts',
    find: '[person, ...imageReferences(account.picture)]',
    replace: 'imageReferences(account.picture)',
    caughtBy: ['accounts.delete.likes'],
  },
  'posts are listed oldest first': {
    file: 'db/posts.ts',
    find: 'posts.created_at desc, posts.id desc',
    replace: 'posts.created_at, posts.id',
    caughtBy: ['posts.list.newest-first', 'posts.list-own.own-posts'],
  },
  'created_at lacks fractions of a second': {
    file: 'handlers/views.ts',
    find: 'created_at: row.created_at',
    replace: 'created_at: `${row.created_at.slice(0, 19)}Z`',
    caughtBy: ['posts.create.created-at'],
  },
  'Location of a new post is the path of the feed': {
    file: 'handlers/posts.ts',
    find: '`/posts/${creation.post.id}`',
    replace: '"/posts"',
    caughtBy: ['posts.create.location'],
  },
};
