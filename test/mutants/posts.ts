// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is looked for and put in its place is code.

import type { Mutant } from './mutant.js';

/** Posts, their images and their likes. */
export const posts: Mutant[] = [
  {
    breach: 'everybody can edit every post',
    file: 'handlers/posts.js',
    find: `if (post?.author_id !== caller.account.id) return NO_SUCH_POST;
    const updated = await withUpload(
      app,
      upload,
      (image) => updatePost(app.db, caller.account.id,`,
    replace: `if (!post) return NO_SUCH_POST;
    const updated = await withUpload(
      app,
      upload,
      (image) => updatePost(app.db, post.author_id,`,
    caughtBy: ['Authentication 6: PUT /posts/edit'],
  },
  {
    breach: 'everybody can delete every post',
    file: 'db/posts.js',
    find: 'trx.deleteFrom("posts").where("id", "=", id).where("author_id", "=", author)',
    replace: 'trx.deleteFrom("posts").where("id", "=", id)',
    caughtBy: ['Authentication 6: DELETE /posts/delete'],
  },
  {
    breach: 'liking twice fails',
    file: 'db/graph/embedded.js',
    find: 'on conflict do nothing`',
    replace: '`',
    caughtBy: ['Posts, POST /posts/like: 200 {message}; idempotent'],
  },
  {
    breach: 'everybody seems to like what somebody likes',
    file: 'handlers/views.js',
    find: 'liked_by_me: likes.liked',
    replace: 'liked_by_me: likes.count > 0',
    caughtBy: ['Post, liked_by_me'],
  },
  {
    breach: 'a file is taken for what it is declared to be',
    file: 'handlers/http/forms.js',
    find: 'canonicalMediaType(declared) !== mediaType',
    replace: 'declared === mediaType + "x"',
    caughtBy: [
      'Uploads: checked against its declared Content-Type',
      'Uploads: a mismatch is not stored',
      'Uploads: profile pictures',
    ],
  },
  {
    breach: 'an image’s last byte is altered',
    file: 'handlers/http/forms.js',
    find: 'yield chunk;',
    replace: 'yield chunk.map((byte, at) => (at === chunk.length - 1 ? byte ^ 1 : byte));',
    caughtBy: ['Rules, images: PNG: bytes come back', 'Rules, images: AVIF: bytes come back'],
  },
  {
    breach: 'an image may be sniffed for another type',
    file: 'handlers/images.js',
    find: `"Content-Security-Policy": "default-src 'none'; sandbox",`,
    replace: '',
    caughtBy: ['Rules, images: served with nosniff', 'openapi.yaml, getPostImage: '],
  },
  {
    breach: 'account deletion leaves the posts',
    file: 'db/accounts.js',
    find: 'trx.deleteFrom("posts").where("author_id", "=", checked.id).returning(["id", "image"]).execute()',
    replace: 'trx.selectFrom("posts").where("author_id", "=", -1).select(["id", "image"]).execute()',
    caughtBy: ['Account deletion: removes posts', 'Account deletion: removes images'],
  },
  {
    breach: 'account deletion leaves likes and friendships',
    file: 'db/accounts.js',
    find: '{ kind: "person", key: checked.id },',
    replace: '',
    caughtBy: ['Account deletion: removes the graph node'],
  },
  {
    breach: 'posts are listed the oldest first',
    file: 'db/posts.js',
    find: 'posts.created_at desc, posts.id desc',
    replace: 'posts.created_at, posts.id',
    caughtBy: ['Posts, GET /posts: 200 visible posts, newest first', 'Posts, GET /posts/me: 200 only posts'],
  },
  {
    breach: 'times are told to the second',
    file: 'handlers/views.js',
    find: 'created_at: post.created_at',
    replace: 'created_at: `${post.created_at.slice(0, 19)}Z`',
    caughtBy: ['Post, created_at'],
  },
];
