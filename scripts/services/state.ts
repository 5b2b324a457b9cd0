import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { folder } from './folder.js';
import { findFreePort } from './ports.js';
import type { Launch, ProcessIdentity } from './processes.js';

export const SERVER_NAMES = ['postgres', 'neo4j', 's3', 'redis'] as const;

export type ServerName = (typeof SERVER_NAMES)[number];

interface StartedServer extends ProcessIdentity {
  version: string;
  /** The command, for a restart. */
  launch: Launch;
}

export interface State {
  /** The original folder. In a copy, the state is ignored, because its processes belong to the original. */
  folder: string;
  ports: Record<ServerName, number>;
  passwords: { postgres: string; neo4j: string; redis: string };
  s3: { accessKeyId: string; secretAccessKey: string };
  /** The value of TOKEN_KEYS, in the form `kid:secret`. */
  tokenKeys: string;
  /** The servers that were started, including those that have stopped since. */
  servers: Partial<Record<ServerName, StartedServer>>;
}

const STATE_FILE = 'state.json';

/** Returns the saved state, or undefined before the first `up` and in a copy of a folder. */
export function readState(): State | undefined {
  if (!existsSync(folder(STATE_FILE))) return undefined;
  const state = JSON.parse(readFileSync(folder(STATE_FILE), 'utf8')) as State;
  return state.folder === folder() ? state : undefined;
}

export function writeState(state: State): void {
  writeFileSync(folder(`${STATE_FILE}.new`), JSON.stringify(state, null, 2), { mode: 0o600 });
  renameSync(folder(`${STATE_FILE}.new`), folder(STATE_FILE));
}

/** Generates the ports, passwords and keys of new servers. */
export async function generateState(): Promise<State> {
  const random = (bytes: number) => randomBytes(bytes).toString('hex');
  return {
    folder: folder(),
    ports: {
      postgres: await findFreePort(),
      neo4j: await findFreePort(),
      s3: await findFreePort(),
      redis: await findFreePort(),
    },
    passwords: { postgres: random(16), neo4j: random(16), redis: random(16) },
    s3: { accessKeyId: random(10).toUpperCase(), secretAccessKey: random(20) },
    tokenKeys: `services:${random(32)}`,
    servers: {},
  };
}
