import { randomBytes } from 'node:crypto';
import t from 'tap';
import { weaknessOf } from '../../handlers/config/secret-strength.js';

t.test('rejects secrets that are not random', async (t) => {
  for (const secret of [
    'k'.repeat(32),
    '0'.repeat(64),
    'ab'.repeat(20),
    'deadbeef'.repeat(8),
    'Quiet-Harbour-27!'.repeat(2),
    'Quiet-Harbour-27!Quiet-Harbour-27!Quie',
    'abcdefghijklmnopqrstuvwxyz0123456789',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ-9876543210',
    '12345678901234567890123456789012x!y?z',
    'qwertyuiopasdfghjklzxcvbnm1234567890',
    'change-me-change-me-please-change-me-1',
    'this-is-a-very-long-secret-key-please-replace',
    'your-super-secret-jwt-signing-key-here',
    'SECRET_KEY_FOR_DEVELOPMENT_ONLY_NOT_PRODUCTION',
    'must be at least 32 characters long!!!',
  ]) {
    t.ok(weaknessOf(secret), secret);
  }
});

t.test('accepts every random secret, and a phrase of uncommon words', async (t) => {
  t.equal(weaknessOf('lantern herring cobalt gravel walnut'), undefined);
  for (let round = 0; round < 3000; round += 1) {
    const bytes = randomBytes(32);
    // A secret that fails here is printed, so the test needs no seed.
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const secret = bytes.toString(encoding);
      if (weaknessOf(secret)) t.fail(`${secret} ${weaknessOf(secret)}`);
    }
    // The shortest secret that is allowed. Not in hexadecimal: one in 28 million would have fewer than eight different digits.
    const short = bytes.subarray(8).toString('base64url');
    if (weaknessOf(short)) t.fail(`${short} ${weaknessOf(short)}`);
  }
});
