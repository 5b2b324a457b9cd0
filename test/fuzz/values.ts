import fc from 'fast-check';
import { claimsOf } from '../../scripts/contract-test/client/index.js';
import type { Random } from '../support/random.js';
import type { Fixture } from './fixture.js';

/** Returns the words of a text, which are separated by spaces or line breaks. */
export const words = (text: string): string[] => text.trim().split(/[ \n]+/);

/** Returns the usual value, or rarely one of the others. */
export const usually = <Value>(random: Random, value: Value, others: readonly Value[]): Value =>
  random.chance(0.97) ? value : random.pick(others);

export const UNUSUAL_IDS = [
  ...['', ' 1', '1 ', "1' OR '1'='1", '\u0661', '\uff11'],
  ...words(`
    0 -1 1 01 1.0 1e3 0x10 +1 %201 9007199254740991 9007199254740992 99999999999999999999 2147483648 -9007199254740993
    NaN null true %00 1%00 %ff % %zz 1,2 [1] {} 1' 1;-- $ne .. ../1 %2e%2e * 1/2`),
];

const TEXTS = [
  ...['', ' ', 'A title', '\u0000', '\ud800', '\udc00', '\ufeff', '\u202e', '\u200b', '\u3164', '\u2800', '\\'],
  ...words(`
    a true false TRUE 0 null $(id) {{7*7}} <script>alert(1)</script> ../../etc/passwd %2e%2e%2f " {"a":1} [] __proto__
    constructor toString admin a@b a@b.example A@B.EXAMPLE a@[127.0.0.1] Quiet-Harbour-27! Password123! Aa1!Aa1!Aa1!
    \u0130stanbul \u00df 1970-01-01T00:00:00.000Z $argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA`),
  ...['\r\nX-Injected: 1', "'; DROP TABLE posts; --", '"a b"@c.example'],
  ...['\u{1f600}'.repeat(50), 'a'.repeat(201), 'e\u0301'.repeat(300), '\ufdfa'.repeat(200), 'x'.repeat(10_001)],
];

const UNUSUAL_FILENAMES = [
  ...['a'.repeat(300), `${'0'.repeat(32)}.png`, '\u00e9.png'],
  ...words(`
    .. . %2e%2e%2ftoken-keys ..%2f..%2ftoken-keys ....// a.png .png %00.png token-keys con *.png a.png/ a.png%00.jpg
    %ff.png`),
];

const UNUSUAL_SESSION_IDS = [
  ...['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'a'.repeat(500)],
  ...['x', "'", '%00'],
];

export function postId(random: Random, { privateUser, publicUser }: Fixture): string {
  const kind = random.below(10);
  if (kind < 3) return String(random.pick(privateUser.postIds));
  if (kind < 5) return String(publicUser.postId);
  if (kind < 8) return String(1 + random.below(200));
  return random.pick(UNUSUAL_IDS);
}

export function accountId(random: Random, fixture: Fixture): string {
  const kind = random.below(10);
  if (kind < 2) return String(fixture.privateUser.id);
  if (kind < 4) return String(fixture.publicUser.id);
  if (kind < 8) return String(random.pick(fixture.attackers).id);
  return random.pick(UNUSUAL_IDS);
}

export function filename(random: Random, { privateUser, publicUser }: Fixture): string {
  const kind = random.below(10);
  const privateFilename = random.pick(privateUser.filenames);
  if (kind < 4) return privateFilename;
  if (kind < 6) return publicUser.filename;
  if (kind < 7) return privateFilename.replace(/\.\w+$/, random.pick(['', '.jpg', '.PNG', '.png.png']));
  return random.pick(UNUSUAL_FILENAMES);
}

export function sessionId(random: Random, fixture: Fixture): string {
  const kind = random.below(10);
  if (kind < 3) return fixture.privateUser.sessionId;
  if (kind < 4) return String(claimsOf(random.pick(fixture.attackers).token).jti);
  return random.pick(UNUSUAL_SESSION_IDS);
}

/** Returns one of `TEXTS`, two of them concatenated, or random characters. */
export function text(random: Random): string {
  const kind = random.below(10);
  if (kind < 6) return random.pick(TEXTS);
  if (kind < 8) return random.pick(TEXTS) + random.pick(TEXTS);
  const length = random.below(40);
  return Array.from({ length }, () => String.fromCodePoint(codePoint(random))).join('');
}

/** Returns a random code point: in ASCII, below U+0800, or any, including surrogates. */
const codePoint = (random: Random) => random.pick([random.below(0x80), random.below(0x800), random.below(0x110000)]);

const jsonValues = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });

/** Returns a value of a random JSON type. */
export const json = (random: Random) => fc.sample(jsonValues, { seed: random.below(2 ** 31), numRuns: 1 })[0];
