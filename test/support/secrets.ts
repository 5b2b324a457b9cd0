/** Patterns of secrets, by kind. */
const SECRET_PATTERNS: Record<string, RegExp> = {
  'a password hash': /\$argon2i?d?\$/,
  'a token': /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/,
  'a credential header': /\bBearer [\w-]{8,}/,
};

/** Describes the secrets that a log contains: those of `secrets` by their first four characters, others by their kind. */
export const secretsIn = (log: string, secrets: readonly string[]): string[] => [
  ...secrets.filter((secret) => log.includes(secret)).map((secret) => `${secret.slice(0, 4)}…`),
  ...Object.keys(SECRET_PATTERNS).filter((kind) => SECRET_PATTERNS[kind]?.test(log)),
];
