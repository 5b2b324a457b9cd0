import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A server under test, in a process of its own. */
export interface Server {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** How long a server may take until it listens, and between two looks, in milliseconds. */
const PATIENCE = 60_000;
const LOOK = 50;

const running = new Set<ChildProcess>();

/** Ends whatever still runs, so that nothing outlives the bench. */
export function endChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** With this process's own flags for Node, which are those of `npm start`; a yardstick gets them as the service does. */
function start(
  script: string,
  variables: NodeJS.ProcessEnv,
  stdio: ['ignore' | 'pipe', number | 'pipe', number | 'inherit'],
) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, path], {
    env: { PATH: process.env.PATH, ...variables },
    stdio,
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Starts a server whose output goes to a file, and waits until it says there where its API is. */
export async function startServer(script: string, variables: NodeJS.ProcessEnv, log: string): Promise<Server> {
  const output = openSync(log, 'w');
  const child = start(script, { NODE_ENV: 'production', ...variables }, ['ignore', output, output]);
  closeSync(output);
  const closed = once(child, 'close');
  for (const deadline = Date.now() + PATIENCE; ; await sleep(LOOK)) {
    const said = await readFile(log, 'utf8');
    const [, url] = /^ +API +(\S+)$/m.exec(said) ?? [];
    if (url !== undefined) {
      return {
        url,
        pid: child.pid ?? 0,
        async stop() {
          child.kill('SIGTERM');
          await closed;
        },
      };
    }
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${script} did not start:\n${said}`);
    }
  }
}

/** Runs a script to its end: gives it a question as JSON, and answers what it prints. */
export async function ask<Answer>(script: string, question: object): Promise<Answer> {
  const child = start(script, {}, ['pipe', 'pipe', 'inherit']);
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk;
  });
  child.stdin?.end(JSON.stringify(question));
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} ended with ${code ?? signal}`);
  return JSON.parse(printed);
}
