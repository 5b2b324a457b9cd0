import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A server under test, in its own process. */
export interface Server {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** The time a server has to start listening. */
const START_TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

const running = new Set<ChildProcess>();

/** Kills all child processes that are still running. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Starts a Node process with the flags of this process. They are those of `npm start`, so all servers run with the same
 * flags.
 */
function spawnNode(
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

/** Starts a server that logs to a file, and waits until the log contains the URL of its API. */
export async function startServer(script: string, variables: NodeJS.ProcessEnv, log: string): Promise<Server> {
  const logFile = openSync(log, 'w');
  const child = spawnNode(script, { NODE_ENV: 'production', ...variables }, ['ignore', logFile, logFile]);
  closeSync(logFile);
  const closed = once(child, 'close');
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
    const output = await readFile(log, 'utf8');
    const [, url] = /^ +API +(\S+)$/m.exec(output) ?? [];
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
      throw new Error(`${script} did not start:\n${output}`);
    }
  }
}

/** Runs a script with `input` as JSON on its standard input, and returns the JSON that it prints. */
export async function runScript<Result>(script: string, input: object): Promise<Result> {
  const child = spawnNode(script, {}, ['pipe', 'pipe', 'inherit']);
  let stdout = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stdin?.end(JSON.stringify(input));
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} exited with ${code ?? signal}`);
  return JSON.parse(stdout);
}
