import { expectProblemCodes, expectProblems } from '../../expect.js';
import { UNUSED_ID } from '../../fixtures.js';
import { rule } from '../../rule.js';

export const idRules = (
  [
    ['POST', '/friends/request', 'to', 400],
    ['POST', '/friends/accept', 'from', 404],
    ['POST', '/friends/decline', 'from', 404],
    ['POST', '/friends/cancel', 'to', 404],
    ['DELETE', '/friends/remove', 'id', 404],
  ] as const
).map(([method, path, name, ownIdStatus]) =>
  rule(
    `friends.${path.split('/')[2]}.id`,
    `${method} ${path} returns 400 for an invalid id, 404 for an unknown id and ${ownIdStatus} for the user’s own id.`,
    async (users) => {
      const { id: own, send } = await users.sharedUser('flo');
      for (const id of ['0', 'x', '', '9007199254740992'])
        expectProblems(await send(400, `${method} ${path}?${name}=${id}`), `query.${name}`);
      expectProblemCodes(await send(400, `${method} ${path}`), `query.${name} required`);
      await send(404, `${method} ${path}?${name}=${UNUSED_ID}`);
      await send(ownIdStatus, `${method} ${path}?${name}=${own}`);
    },
  ),
);
