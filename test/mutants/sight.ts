// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is looked for and put in its place is code.

import type { Mutant } from './mutant.js';

/** What somebody sees who should not. */
export const sight: Mutant[] = [
  {
    breach: 'an email address leaks into a profile',
    file: 'handlers/http/operations.js',
    find: 'return serialize(answer.body)',
    replace:
      'return operation.id === "getOwnProfile" ? JSON.stringify({ ...answer.body, email: caller.account.email }) : serialize(answer.body)',
    caughtBy: ['Account and profile, email: Never exposed', 'openapi.yaml, getOwnProfile: '],
  },
  {
    breach: 'a private account’s full profile is shown to a stranger',
    file: 'handlers/profiles.js',
    find: 'full ? fullProfileView(account) : briefProfileView(account)',
    replace: 'fullProfileView(account)',
    caughtBy: ['Visibility rules 3: Private account: to a stranger the profile is id, name, username'],
  },
  {
    breach: 'a hidden post can be liked',
    file: 'db/likes.js',
    find: 'askFriends) ? "done" : "hidden"',
    replace: 'askFriends) || wishes[index].liked ? "done" : "hidden"',
    caughtBy: [
      'Visibility rules 4: Only posts the requester can see',
      'Visibility rules 4: so hidden posts are not revealed',
    ],
  },
  {
    breach: 'a hidden post can be unliked',
    file: 'db/likes.js',
    find: 'askFriends) ? "done" : "hidden"',
    replace: 'askFriends) || !wishes[index].liked ? "done" : "hidden"',
    caughtBy: ['Visibility rules 4: Only posts the requester can see'],
  },
  {
    breach: 'a hidden post can be read',
    file: 'handlers/posts.js',
    find: 'return seen && postView(seen.post, seen.likes)',
    replace: 'return postView(post, seen?.likes ?? { count: 0, liked: false })',
    caughtBy: ['Visibility rules 3: Private account: a stranger reads the post'],
  },
  {
    breach: 'a hidden post’s image is served',
    file: 'handlers/posts.js',
    find: 'if (!post || !await canSee(caller.account.id, authorOf(post), read.friends)) return NO_SUCH_IMAGE',
    replace: 'if (!post) return NO_SUCH_IMAGE',
    caughtBy: ['Visibility rules 5: Private account: a stranger downloads the post’s image'],
  },
  {
    breach: 'a hidden picture is served to somebody who has only asked to be a friend',
    file: 'handlers/profiles.js',
    find: 'if (!owner || !await canSee(caller.account.id, owner, read.friends)) return NO_SUCH_IMAGE',
    replace: 'if (!owner) return NO_SUCH_IMAGE',
    caughtBy: ['Visibility rules 5: Private account: somebody who has asked the owner downloads the profile picture'],
  },
  {
    breach: 'who has been asked sees as much as a friend',
    file: 'db/graph/embedded.js',
    find: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[]) and requester is null',
    replace: 'where hi = any(${people}::int8[]) and lo = any(${others}::int8[])',
    caughtBy: ['Visibility rules 3: Private account: somebody who '],
  },
  {
    breach: '304 is answered before anybody has looked who asks',
    file: 'handlers/posts.js',
    find: 'const post = await findPostByImage(db, path.filename);',
    replace: `if (headers["if-none-match"] === \`"\${path.filename}"\`) return { status: 304, headers: { ETag: headers["if-none-match"], "Cache-Control": "private, no-cache" } };
    const post = await findPostByImage(db, path.filename);`,
    caughtBy: ['Rules, images: 304 only after the visibility check: a post’s image'],
  },
  {
    breach: 'the feed is not filtered',
    file: 'db/feed.js',
    find: 'rows.filter((post) => isOpenTo(viewer, authorOf(post)) || friends.has(post.author_id))',
    replace: '[...rows]',
    caughtBy: ['Visibility rules 3: Others have the post filtered out of the feed'],
  },
];
