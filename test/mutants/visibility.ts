// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the snippets are code.

import type { Mutants } from './mutant.js';

export const visibility: Mutants = {
  'a profile contains the email address': {
    file: 'handlers/http/operations.ts',
    find: ': serialize(body)',
    replace:
      ': operation.id === "getOwnProfile" ? JSON.stringify({ ...body, email: request.user.account.email }) : serialize(body)',
    caughtBy: ['profiles.get.no-email', 'document.getOwnProfile'],
  },
  'the full profile of a private account is shown to a stranger': {
    file: 'handlers/profiles.ts',
    find: 'full ? fullProfileView(account) : reducedProfileView(account)',
    replace: 'fullProfileView(account)',
    caughtBy: ['visibility.profile.private'],
  },
  'a hidden post can be liked and unliked': {
    file: 'db/likes.ts',
    find: `findFriends)) ? 'done' : 'notVisible'`,
    replace: `findFriends)) || owner ? 'done' : 'notVisible'`,
    caughtBy: ['visibility.like.private', 'visibility.like.was-public', 'visibility.unlike.private'],
  },
  'a hidden post can be read': {
    file: 'db/visible-posts.ts',
    find: 'if (!(await canSee(viewer, found?.owner, read.friends))) return undefined;',
    replace: 'if (found) return { post: (await read.posts([id]))[0], likes: { count: 0, liked: false } };',
    caughtBy: ['visibility.post.private'],
  },
  'hidden images are served': {
    file: 'handlers/http/images.ts',
    find: 'if (!(await canSee(user.account.id, owner, read.friends))) return IMAGE_NOT_FOUND',
    replace: 'if (!owner) return IMAGE_NOT_FOUND',
    caughtBy: ['visibility.image.private', 'visibility.picture.private'],
  },
  'a pending friend request counts as a friendship for the user with the higher id': {
    file: 'db/graph/tables.ts',
    find: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[]) and requester is null',
    replace: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[])',
    caughtBy: ['visibility.post.private'],
  },
  '304 is returned before visibility is checked': {
    file: 'handlers/http/images.ts',
    find: 'if (!(await canSee(user.account.id, owner, read.friends)))',
    replace: `if (headerParameters["If-None-Match"] === \`"\${path.filename}"\`) return { status: 304, headers: { ETag: headerParameters["If-None-Match"], "Cache-Control": "private, no-cache" } };
    if (!(await canSee(user.account.id, owner, read.friends)))`,
    caughtBy: ['visibility.image.private'],
  },
  'the feed is not filtered': {
    file: 'db/visible-posts.ts',
    find: 'rows.filter((post) => isVisible(viewer, authorOf(post), friends))',
    replace: '[...rows]',
    caughtBy: ['visibility.feed.private'],
  },
};
