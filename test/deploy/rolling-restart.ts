import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { listen } from '../support/listen.js';
import type { ServiceProcess } from '../support/processes.js';
import { RUNBOOK, readBlocks } from '../support/runbook.js';
import { temporaryDirectory } from '../support/stores.js';
import type { Topology } from './topology.js';

/** The section of the runbook whose commands are run. */
const SECTION = 'Restart all processes';

/**
 * Returns a function that runs the loop of the runbook, which restarts one process after another. Its `systemctl restart` stops
 * a process of the topology, and starts the next one without waiting until it listens, as systemd does.
 */
export async function createRollingRestart(t: Test, topology: Topology, processes: Promise<ServiceProcess>[]) {
  const server = createServer(async ({ url }, response) => {
    const [, command, unit] = /^\/(\w+)\/social-posting@(\d+)$/.exec(url ?? '') ?? [];
    const index = Number(unit) - 1;
    t.equal(command, 'restart');
    t.equal(await (await processes[index])?.end('SIGTERM'), 0, `${unit} completes its requests`);
    processes[index] = topology.start(index);
    response.end();
  });
  const port = await listen(t, server);
  const directory = await temporaryDirectory(t);
  const systemctl = `#!/bin/sh\nexec curl -fsS "http://127.0.0.1:${port}/$1/$2"\n`;
  await writeFile(join(directory, 'systemctl'), systemctl, { mode: 0o755 });
  const loop = readBlocks(readFileSync(RUNBOOK, 'utf8'))
    .filter(({ section }) => section === SECTION)
    .map(({ commands }) => commands.replace('127.0.0.$i:3001', `127.0.20.$i:${topology.opsPort}`))
    .join('');
  return async () => {
    const env = { PATH: `${directory}:${process.env.PATH}` };
    await promisify(execFile)('bash', ['-e', '-c', loop], { env });
    await Promise.all(processes);
  };
}
