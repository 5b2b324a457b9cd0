import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** Patterns that no log may contain: Argon2 hashes, signed tokens, authorization headers. */
const PATTERNS: Record<string, RegExp> = {
  'a password hash': /\$argon2i?d?\$/,
  'a token': /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/,
  'a credential header': /\bBearer [\w-]{8,}/,
};

/** Returns the kinds of secrets that a log contains, or their first four characters. */
export async function secretsIn(logPath: string, secrets: ReadonlySet<string>): Promise<string[]> {
  const found = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(logPath), crlfDelay: Number.POSITIVE_INFINITY })) {
    for (const secret of secrets) if (line.includes(secret)) found.add(`${secret.slice(0, 4)}…`);
    for (const [name, pattern] of Object.entries(PATTERNS)) if (pattern.test(line)) found.add(name);
  }
  return [...found];
}
