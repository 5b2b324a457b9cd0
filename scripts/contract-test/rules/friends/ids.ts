import { expectProblemCodes, expectProblems } from '../../expect.js';
import { UNUSED_ID } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

export const idRules: Rule[] = (
  [
    ['POST /friends/request', 'to', 400],
    ['POST /friends/accept', 'from', 404],
    ['POST /friends/decline', 'from', 404],
    ['POST /friends/cancel', 'to', 404],
    ['DELETE /friends/remove', 'id', 404],
  ] as const
).map(([request, name, ownIdStatus]) =>
  rule(
    `friends.${request.split('/')[2]}.id`,
    `${request} returns 400 for an invalid id, 404 for an unknown id and ${ownIdStatus} for the user’s own id.`,
    async (users) => {
      const { id: ownId, send } = await users.sharedUser('flo');
      for (const id of ['0', 'x', '', '9007199254740992'])
        expectProblems(await send(400, `${request}?${name}=${id}`), `query.${name}`);
      expectProblemCodes(await send(400, request), `query.${name} required`);
      await send(404, `${request}?${name}=${UNUSED_ID}`);
      await send(ownIdStatus, `${request}?${name}=${ownId}`);
    },
  ),
);
