import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Patterns of secrets, by kind: Argon2 hashes, signed tokens, and Authorization headers. */
const SECRET_PATTERNS: Record<string, RegExp> = {
  'a password hash': /\$argon2i?d?\$/,
  'a token': /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/,
  'a credential header': /\bBearer [\w-]{8,}/,
};

/** Returns the secrets that a log contains: those of `secrets` by their first four characters, others by their kind. */
export async function secretsIn(logPath: string, secrets: ReadonlySet<string>): Promise<string[]> {
  const found = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(logPath), crlfDelay: Number.POSITIVE_INFINITY })) {
    for (const secret of secrets) if (line.includes(secret)) found.add(`${secret.slice(0, 4)}…`);
    for (const [kind, pattern] of Object.entries(SECRET_PATTERNS)) if (pattern.test(line)) found.add(kind);
  }
  return [...found];
}
