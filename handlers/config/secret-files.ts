import { readFileSync } from 'node:fs';
import { ConfigError } from './index.js';

const SECRET_VARIABLES = ['TOKEN_KEYS', 'DATABASE_URL', 'NEO4J_PASSWORD', 'REDIS_URL', 'AWS_SECRET_ACCESS_KEY'];

export const SECRET_FILE_VARIABLES = SECRET_VARIABLES.map((name) => `${name}_FILE`);

/**
 * Sets each secret variable `NAME` for which there is a variable `NAME_FILE`, to the content of that file without a final line
 * break. Docker and Kubernetes provide secrets as such files.
 *
 * @throws ConfigError if a file cannot be read or is empty, or if both variables are set
 */
export function loadSecretFiles(environment: NodeJS.ProcessEnv): void {
  for (const name of SECRET_VARIABLES) {
    const path = environment[`${name}_FILE`];
    if (!path) continue;
    if (environment[name]) throw new ConfigError(`${name}_FILE: must not be set together with ${name}`);
    try {
      environment[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      throw new ConfigError(`${name}_FILE: ${(error as Error).message}`);
    }
    // An empty variable would count as not set, and production would start on an embedded store.
    if (!environment[name]?.trim()) throw new ConfigError(`${name}_FILE: ${path} is empty`);
  }
}
