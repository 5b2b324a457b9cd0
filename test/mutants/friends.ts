// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what is looked for and put in its place is code.

import type { Mutant } from './mutant.js';

/** Friendships that come and go as they should not. */
export const friends: Mutant[] = [
  {
    breach: 'a request to somebody who has asked makes the two friends',
    file: 'db/graph/embedded.ts',
    find: `conflict.columns(['lo', 'hi']).doNothing()`,
    replace:
      'conflict.columns(["lo", "hi"]).doUpdateSet({ requester: null }).where("graph_friendships.requester", "=", to)',
    caughtBy: ['friends.request.crossed', 'relationships.create.is-a-request'],
  },
  {
    breach: 'who has asked can accept in the other’s name',
    file: 'db/graph/embedded.ts',
    find: `.where(friendshipOf(by, from)) .where('requester', '=', from)`,
    replace: '.where(friendshipOf(by, from))',
    caughtBy: ['friends.accept.own-request'],
  },
  {
    breach: 'a friendship ends for a request that is declined',
    file: 'db/graph/embedded.ts',
    find: 'removeWhen(by, from, sql`requester = ${from}`)',
    replace: 'removeWhen(by, from, sql`true`)',
    caughtBy: ['friends.friendship.no-request-left'],
  },
  {
    breach: 'create_relationship makes two people friends at once',
    file: 'handlers/relationships.ts',
    find: 'return sendRequest(context, me, them);',
    replace: `const sent = await sendRequest(context, me, them);
    if (sent.status === 200) await context.graph.accept(them, me);
    return sent;`,
    caughtBy: ['relationships.create.is-a-request'],
  },
  {
    breach: 'create_relationship acts for somebody else',
    file: 'handlers/relationships.ts',
    find: 'if (me !== user.account.id)',
    replace: 'if (false)',
    caughtBy: ['relationships.create.me'],
  },
];
