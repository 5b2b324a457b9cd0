import { BUCKET, REGION } from './s3.js';
import type { State } from './state.js';

/** Returns the environment variables for the service and its tests. */
export function variables({ folder, ports, passwords, s3, tokenKeys }: State): Record<string, string> {
  return {
    DATABASE_URL: `postgres://postgres:${passwords.postgres}@127.0.0.1:${ports.postgres}/postgres`,
    NEO4J_URI: `bolt://127.0.0.1:${ports.neo4j}`,
    NEO4J_USERNAME: 'neo4j',
    NEO4J_PASSWORD: passwords.neo4j,
    S3_ENDPOINT: `http://127.0.0.1:${ports.s3}`,
    S3_BUCKET: BUCKET,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    AWS_REGION: REGION,
    REDIS_URL: `redis://:${passwords.redis}@127.0.0.1:${ports.redis}`,
    TOKEN_KEYS: tokenKeys,
    // Lets tests stop and start the servers.
    SERVICES_DIR: folder,
  };
}

/** Returns `export` statements for `eval` in a shell. */
export function exportStatements(state: State): string {
  return Object.entries(variables(state))
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'`)
    .join('\n');
}
