// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the snippets are code.

import type { Mutants } from './mutant.js';

export const friends: Mutants = {
  'a request to a user who has already sent one creates a friendship': {
    file: 'db/graph/tables.ts',
    find: `conflict.columns(['lo', 'hi']).doNothing()`,
    replace:
      'conflict.columns(["lo", "hi"]).doUpdateSet({ requester: null }).where("graph_friendships.requester", "=", to)',
    caughtBy: ['friends.request.crossed', 'relationships.create.is-a-request'],
  },
  'a request to a user who has already sent one has the code of a repeated request': {
    file: 'db/graph/tables.ts',
    find: `existing.requester === from ? 'alreadySent' : 'alreadyReceived'`,
    replace: `'alreadySent'`,
    caughtBy: ['friends.request.crossed', 'relationships.create.is-a-request'],
  },
  'the sender of a request can accept it': {
    file: 'db/graph/tables.ts',
    find: `.where(isPair(by, from)) .where('requester', '=', from)`,
    replace: '.where(isPair(by, from))',
    caughtBy: ['friends.accept.own-request'],
  },
  'declining a request removes an existing friendship': {
    file: 'db/graph/tables.ts',
    find: 'deletePairIf(by, from, sql`requester = ${from}`)',
    replace: 'deletePairIf(by, from, sql`true`)',
    caughtBy: ['friends.friendship.no-request-left'],
  },
  'create_relationship creates a friendship without acceptance': {
    file: 'handlers/relationships.ts',
    find: 'return handleFriendRequest(context, me, them);',
    replace: `const sent = await handleFriendRequest(context, me, them);
    if (sent.status === 200) await context.graph.accept(them, me);
    return sent;`,
    caughtBy: ['relationships.create.is-a-request'],
  },
  'create_relationship acts for another user': {
    file: 'handlers/relationships.ts',
    find: 'if (me !== user.account.id)',
    replace: 'if (false)',
    caughtBy: ['relationships.create.me'],
  },
};
