import { createSecretKey } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { TokenKeys } from '../config/variables.js';

/** The claims of a token that identify its account and session. */
interface TokenClaims {
  accountId: number;
  sessionId: string;
  tokenVersion: number;
}

export interface Tokens {
  /** Returns a signed token. */
  issue(claims: TokenClaims, expiresAt: Date): Promise<string>;
  /**
   * Returns the claims of a token, or undefined if it is invalid or expired. Does not check whether the session still
   * exists.
   */
  verify(token: string): Promise<TokenClaims | undefined>;
}

const ALGORITHM = 'HS256';
/** The maximum number of tokens in the cache. The signature of a cached token is not verified again. */
const CACHE_MAX_TOKENS = 10_000;
/** The issuer and audience of all tokens. */
const ISSUER = 'social-posting-service';

/**
 * Creates an issuer and verifier of JSON Web Tokens (RFC 7519). The first key signs tokens. The `kid` of a token names the
 * key that verifies it.
 */
export function createTokens(tokenKeys: TokenKeys): Tokens {
  const [signing] = tokenKeys;
  const keys = new Map(tokenKeys.map(({ id, secret }) => [id, createSecretKey(secret, 'utf8')]));
  const cache = new LRUCache<string, { claims: TokenClaims; expiresAt: number }>({ max: CACHE_MAX_TOKENS });
  const signingKey = createSecretKey(signing.secret, 'utf8');

  /**
   * Verifies a token. Returns and caches its claims and expiry, in seconds since 1970, or returns undefined if it is
   * invalid.
   */
  async function verifyUncached(token: string) {
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
      const verified = { claims: { accountId: Number(sub), sessionId: jti, tokenVersion: tvr }, expiresAt: exp };
      cache.set(token, verified);
      return verified;
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
      const verified = cache.get(token) ?? (await verifyUncached(token));
      return verified && verified.expiresAt > Date.now() / 1000 ? verified.claims : undefined;
    },
  };
}
