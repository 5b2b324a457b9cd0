import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { addressesIn, isAlive, script } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';

export interface AttackedService {
  url: string;
  opsUrl: string;
  pid: number;
  log(): Promise<string>;
  isRunning(): boolean;
  kill(): Promise<void>;
}

/** Starts the service like `npm start` and waits until it listens. It is killed when the test ends. */
export async function startAttackedService(t: Test, environment: NodeJS.ProcessEnv): Promise<AttackedService> {
  // A file, since a pipe that the busy attacker does not read would block the service.
  const logPath = join(await temporaryDirectory(t), 'log');
  const output = openSync(logPath, 'w');
  const child = spawn(process.execPath, ['--max-semi-space-size=16', script('start')], {
    env: {
      PATH: process.env.PATH,
      MALLOC_TRIM_THRESHOLD_: '131072',
      LOG_LEVEL: 'trace',
      PORT: '0',
      OPS_PORT: '0',
      ...environment,
    },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const closed = once(child, 'close');
  const isRunning = () => isAlive(child);
  const kill = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  t.teardown(kill);

  const log = () => readFile(logPath, 'utf8');
  await until(async () => !isRunning() || addressesIn(await log()) !== undefined);
  const addresses = addressesIn(await log());
  if (!addresses) throw new Error(`The service did not start:\n${await log()}`);
  return { ...addresses, pid: child.pid ?? 0, log, isRunning, kill };
}
