import { claimsOf } from '../../scripts/contract-test/client/index.js';
import type { Random } from '../support/random.js';
import type { Fixture } from './fixture.js';
import { text } from './values.js';

/** Most requests have valid credentials, otherwise little code behind authentication would run. */
const VALID_SHARE = 0.85;

/** Returns header lines with valid or invalid credentials. */
export function credentialHeaders(random: Random, fixture: Fixture): string[] {
  const { token } = random.pick(fixture.attackers);
  if (random.chance(VALID_SHARE)) {
    return [random.chance(0.8) ? `Authorization: Bearer ${token}` : `Cookie: fc_session_token=${token}`];
  }
  const forged = forge(random, fixture, token);
  return random.pick([
    [],
    [`Authorization: Bearer ${forged}`],
    [`Cookie: fc_session_token=${forged}`],
    [`Authorization: Bearer ${forged}`, `Cookie: fc_session_token=${token}`],
    [`Authorization: ${random.pick(['Basic', 'bearer', 'BEARER', 'Bearer ', 'Digest', ''])} ${token}`],
    [`Authorization: Bearer ${token}, Bearer ${token}`],
    [`Authorization: Bearer ${token}`, `Authorization: Bearer ${forged}`],
    [`Cookie: fc_session_token=${token}; fc_session_token=${forged}`],
    [`Cookie: a=b; ;=;fc_session_token="${token}"; c`],
    [`Cookie: fc_session_token=%00${token}%ff`],
  ]);
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a token with forged claims, algorithm or signature, a part of a token, or arbitrary text. */
function forge(random: Random, { privateUser }: Fixture, token: string): string {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const claims = claimsOf(token);
  const victimClaims = { ...claims, sub: String(privateUser.id), jti: privateUser.sessionId };
  return random.pick([
    `${head}.${encode(victimClaims)}.${signature}`,
    `${encode({ alg: 'none' })}.${encode(victimClaims)}.`,
    `${encode({ alg: 'HS512', kid: '../../dev/null' })}.${encode(victimClaims)}.${signature}`,
    `${encode({ alg: 'RS256', jwk: { kty: 'oct', k: 'AA' } })}.${encode(victimClaims)}.${signature}`,
    `${head}.${encode({ ...claims, exp: 9e15, tvr: -1 })}.${signature}`,
    `${head}.${payload}.`,
    `${head}.${payload}`,
    token.slice(0, random.below(token.length + 1)),
    `${token}.${signature}`,
    token.slice(0, -1) + random.pick([...'AQgw_-=']),
    `${head}.${Buffer.from('{"sub":').toString('base64url')}.${signature}`,
    '.'.repeat(1 + random.below(500)),
    'a'.repeat(8000),
    text(random),
  ]);
}
