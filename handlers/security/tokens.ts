import { createSecretKey } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { TokenKey } from '../config/variables.js';

/** What a token says, once its signature, times, issuer and audience have been found good. */
export interface TokenClaims {
  accountId: number;
  sessionId: string;
  tokenVersion: number;
}

export interface Tokens {
  issue(claims: TokenClaims, expiresAt: Date): Promise<string>;
  /** Undefined for whatever is not a token of ours that is still good. Whether its session lives is not asked here. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

const ALGORITHM = 'HS256';
/** How many good tokens are remembered: a signature that was good once is good for ever, and dear to check. */
const REMEMBERED = 10_000;
const NAME = 'social-posting-service';

/** JSON Web Tokens (RFC 7519) by one pinned algorithm: the first key signs, each verifies what names it as `kid`. */
export function createTokens([signing, ...others]: readonly [TokenKey, ...TokenKey[]]): Tokens {
  const keys = new Map([signing, ...others].map(({ id, secret }) => [id, createSecretKey(secret, 'utf8')]));
  const good = new LRUCache<string, { claims: TokenClaims; expiresAt: number }>({ max: REMEMBERED });
  const signingKey = createSecretKey(signing.secret, 'utf8');

  /** What a token of ours says and, in seconds since 1970, until when. */
  async function check(token: string) {
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.get(kid);
          if (!key) throw new Error('unknown key');
          return key;
        },
        {
          algorithms: [ALGORITHM],
          issuer: NAME,
          audience: NAME,
          requiredClaims: ['sub', 'jti', 'tvr', 'iat', 'exp'],
        },
      );
      const { sub, jti, tvr, exp } = payload;
      if (!jti || typeof tvr !== 'number' || exp === undefined) return undefined;
      const known = { claims: { accountId: Number(sub), sessionId: jti, tokenVersion: tvr }, expiresAt: exp };
      good.set(token, known);
      return known;
    } catch {
      return undefined;
    }
  }

  return {
    issue: ({ accountId, sessionId, tokenVersion }, expiresAt) =>
      new SignJWT({ tvr: tokenVersion })
        .setProtectedHeader({ alg: ALGORITHM, kid: signing.id, typ: 'JWT' })
        .setSubject(String(accountId))
        .setJti(sessionId)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .setIssuer(NAME)
        .setAudience(NAME)
        .sign(signingKey),

    async verify(token) {
      const known = good.get(token) ?? (await check(token));
      return known && known.expiresAt > Date.now() / 1000 ? known.claims : undefined;
    },
  };
}
