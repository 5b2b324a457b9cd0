// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is looked for and put in its place is code.

import type { Mutant } from './mutant.js';

/** What somebody sees who should not. */
export const sight: Mutant[] = [
  {
    breach: 'an email address leaks into a profile',
    file: 'handlers/http/operations.ts',
    find: 'const json = serialize(answer.body)',
    replace:
      'const json = operation.id === "getOwnProfile" ? JSON.stringify({ ...answer.body, email: user.account.email }) : serialize(answer.body)',
    caughtBy: ['profiles.get.no-email', 'document.getOwnProfile'],
  },
  {
    breach: 'a private account’s full profile is shown to a stranger',
    file: 'handlers/profiles.ts',
    find: 'full ? fullProfileView(account) : briefProfileView(account)',
    replace: 'fullProfileView(account)',
    caughtBy: ['visibility.profile.private'],
  },
  {
    breach: 'a hidden post can be liked',
    file: 'db/likes.ts',
    find: `askFriends)) ? 'done' : 'notVisible'`,
    replace: `askFriends)) || wish.liked ? 'done' : 'notVisible'`,
    caughtBy: ['visibility.like.private', 'visibility.like.was-public'],
  },
  {
    breach: 'a hidden post can be unliked',
    file: 'db/likes.ts',
    find: `askFriends)) ? 'done' : 'notVisible'`,
    replace: `askFriends)) || !wish.liked ? 'done' : 'notVisible'`,
    caughtBy: ['visibility.unlike.private'],
  },
  {
    breach: 'a hidden post can be read',
    file: 'db/feed.ts',
    find: 'if (!(await canSee(viewer, found?.owner, read.friends))) return undefined;',
    replace: 'if (found) return { post: (await read.posts([id]))[0], likes: { count: 0, liked: false } };',
    caughtBy: ['visibility.post.private'],
  },
  {
    breach: 'a hidden post’s image is served',
    file: 'handlers/posts.ts',
    find: 'if (!(await canSee(user.account.id, owner, context.read.friends))) return NO_SUCH_IMAGE',
    replace: 'if (!owner) return NO_SUCH_IMAGE',
    caughtBy: ['visibility.image.private'],
  },
  {
    breach: 'a hidden picture is served to somebody who has only asked to be a friend',
    file: 'handlers/profiles.ts',
    find: 'if (!(await canSee(user.account.id, owner, context.read.friends))) return NO_SUCH_IMAGE',
    replace: 'if (!owner) return NO_SUCH_IMAGE',
    caughtBy: ['visibility.picture.private'],
  },
  {
    breach: 'who has been asked sees as much as a friend',
    file: 'db/graph/embedded.ts',
    find: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[]) and requester is null',
    replace: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[])',
    caughtBy: ['visibility.post.private'],
  },
  {
    breach: '304 is answered before anybody has looked who asks',
    file: 'handlers/posts.ts',
    find: 'const owner = await findPostImageOwner(context.db, path.filename);',
    replace: `if (headers["if-none-match"] === \`"\${path.filename}"\`) return { status: 304, headers: { ETag: headers["if-none-match"], "Cache-Control": "private, no-cache" } };
    const owner = await findPostImageOwner(context.db, path.filename);`,
    caughtBy: ['visibility.image.private'],
  },
  {
    breach: 'the feed is not filtered',
    file: 'db/feed.ts',
    find: 'rows.filter((post) => isPublicOrOwn(viewer, authorOf(post)) || friends.has(post.author_id))',
    replace: '[...rows]',
    caughtBy: ['visibility.feed.private'],
  },
];
