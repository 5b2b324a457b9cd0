import { createSecretKey } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { TokenKey } from '../config/variables.js';

/** The claims of a token whose signature, times, issuer and audience are valid. */
export interface TokenClaims {
  accountId: number;
  sessionId: string;
  tokenVersion: number;
}

export interface Tokens {
  issue(claims: TokenClaims, expiresAt: Date): Promise<string>;
  /** Returns undefined if the token is invalid or expired. Does not check whether its session still exists. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

const ALGORITHM = 'HS256';
/** The maximum number of verified tokens in the cache, which saves verifying a signature again. */
const CACHE_MAX_TOKENS = 10_000;
/** The issuer and the audience of all tokens. */
const ISSUER = 'social-posting-service';

/** Issues and verifies JSON Web Tokens (RFC 7519) with one fixed algorithm. The first key signs; all keys verify, by `kid`. */
export function createTokens([signing, ...others]: readonly [TokenKey, ...TokenKey[]]): Tokens {
  const keys = new Map([signing, ...others].map(({ id, secret }) => [id, createSecretKey(secret, 'utf8')]));
  const verified = new LRUCache<string, { claims: TokenClaims; expiresAt: number }>({ max: CACHE_MAX_TOKENS });
  const signingKey = createSecretKey(signing.secret, 'utf8');

  /** Returns the claims, and the expiry in seconds since 1970. */
  async function verifySignature(token: string) {
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
          issuer: ISSUER,
          audience: ISSUER,
          requiredClaims: ['sub', 'jti', 'tvr', 'iat', 'exp'],
        },
      );
      const { sub, jti, tvr, exp } = payload;
      if (!jti || typeof tvr !== 'number' || exp === undefined) return undefined;
      const result = { claims: { accountId: Number(sub), sessionId: jti, tokenVersion: tvr }, expiresAt: exp };
      verified.set(token, result);
      return result;
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
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .sign(signingKey),

    async verify(token) {
      const cached = verified.get(token) ?? (await verifySignature(token));
      return cached && cached.expiresAt > Date.now() / 1000 ? cached.claims : undefined;
    },
  };
}
