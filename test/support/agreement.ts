import type { Test } from 'tap';
import type { Stores } from '../../db/stores.js';
import { verify } from '../../scripts/verify/verify.js';
import { settled } from './contents.js';
import { quiet } from './stores.js';

/** Holds the stores against every rule of `npm run verify`, once all that waits has been delivered. */
export async function agree(t: Test, stores: Stores): Promise<void> {
  await settled(stores);
  const { findings } = await verify(stores, { repair: false, log: quiet });
  const broken = findings.filter(({ rule, found }) => found > 0 && !rule.note);
  t.same(
    broken.map(({ rule, examples }) => [rule.says, examples]),
    [],
    'the stores agree',
  );
}
