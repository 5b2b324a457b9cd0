import t from 'tap';
import type { HttpError } from '../../handlers/errors.js';
import { createFailedPasswords } from '../../handlers/security/failed-passwords.js';

const MINUTE_MS = 60_000;
const SUBJECT = 'account:1';

t.test('the window of one hour begins with the first failure, and later failures do not extend it', async (t) => {
  let nowMs = performance.now();
  t.intercept(performance, 'now', { value: () => nowMs });
  const failedPasswords = createFailedPasswords(2, undefined);

  t.notOk(await failedPasswords.record(SUBJECT));
  nowMs += 59 * MINUTE_MS;
  t.ok(await failedPasswords.record(SUBJECT), 'the last failure allowed');
  const refused = await failedPasswords.check(SUBJECT).catch((error: HttpError) => error);
  t.match(refused, { status: 429, headers: { 'Retry-After': '60' } });

  nowMs += MINUTE_MS + 1;
  await t.resolves(failedPasswords.check(SUBJECT));
  t.notOk(await failedPasswords.record(SUBJECT), 'counts from one again');
});
