import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';
import { collectOutput, HIGH_RATE_LIMITS, untilListening } from './processes.js';
import { copyProject } from './project-copy.js';
import { escapeRegExp } from './regexp.js';
import { temporaryDirectory } from './stores.js';
import { startTlsProxy } from './tls.js';

/*
 * Runs the commands of the runbook as an operator does: in a copy of the project, with npm, in a shell that keeps its variables
 * from one block to the next.
 */

export const RUNBOOK = '.github/RUNBOOK.md';

/** The reasons why some blocks are not run, by the word after `sh`. */
export const NOT_RUN: Record<string, string> = {
  install: '.ci/run runs npm ci before the tests, which need the packages',
  systemd: 'systemd does not run in a container; the tests stop and start the server themselves',
};

interface Block {
  section: string;
  /** A key of `NOT_RUN`, or empty. */
  mark: string;
  commands: string;
}

/** Returns the blocks of commands on the page. Those before the first procedure belong to the section `Runbook`. */
export function readBlocks(page: string): Block[] {
  return page.split(/^##? /m).flatMap((text) => {
    const section = text.slice(0, text.indexOf('\n'));
    const blocks = text.matchAll(/^( *)```sh ?(\S*)\n(.*?)^\1```$/gms);
    return [...blocks].map(([, indent = '', mark = '', commands = '']) => ({
      section,
      mark,
      commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }));
  });
}

const page = readFileSync(RUNBOOK, 'utf8');
const blocks = readBlocks(page).filter(({ mark }) => mark === '');

export interface StartedService {
  output(): string;
  /** Sends a signal to all processes of the service, and waits for their end. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Returns a function that runs a part of a test, and skips it if an earlier part has failed. */
export const createStepRunner = (t: Test) => (title: string, run: (t: Test) => Promise<void>) =>
  t.test(title, { skip: !t.passing() && 'an earlier step failed' }, run);

const executed = new Set<Block>();

/** Returns the commands in these sections that have not been run. */
export const remainingCommands = (sections: readonly string[]): string[] =>
  blocks
    .filter((block) => sections.includes(block.section) && !executed.has(block))
    .map(({ section, commands }) => `${section}: ${commands}`);

/** Replaces whole words only: `BUCKET`, but not `S3_BUCKET`. */
function replacePlaceholders(commands: string, values: Record<string, string>): string {
  const longestFirst = Object.keys(values).sort((one, other) => other.length - one.length);
  const placeholder = new RegExp(`(?<!\\w)(?:${longestFirst.map(escapeRegExp).join('|')})(?!\\w)`, 'g');
  return commands.replace(placeholder, (name) => values[name] ?? name);
}

const COPIED = ['db', 'generated', 'handlers', 'scripts', 'openapi.yaml', 'package.json', 'package-lock.json'];

export type Operator = Awaited<ReturnType<typeof createOperator>>;

/**
 * Copies the project for an operator.
 *
 * @param environment the variables of the operator's shell
 * @param values what replaces the placeholders of the page
 */
export async function createOperator(t: Test, environment: NodeJS.ProcessEnv, values: Record<string, string>) {
  const unknown = Object.keys(values).filter((name) => !page.includes(name));
  if (unknown.length > 0) throw new Error(`The page does not contain ${unknown.join(', ')}`);
  const { directory } = await copyProject(t, COPIED);
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const [url, opsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${opsPort}`];
  const replacements = {
    'https://SERVICE_HOST': url,
    'SERVICE_HOST:443': `127.0.0.1:${await startTlsProxy(t, new URL(url))}`,
    'http://127.0.0.1:3001': opsUrl,
    ...values,
  };
  const variables = join(await temporaryDirectory(t), 'variables');
  await writeFile(variables, '');

  /** Starts a shell, which is killed with all its processes when the test ends. */
  function spawnShell(commands: string) {
    const child = spawn('bash', ['--norc', '-e', '-o', 'pipefail', '-c', commands], {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: String(port),
        OPS_PORT: String(opsPort),
        ...HIGH_RATE_LIMITS,
        LOG_LEVEL: 'warn',
        LOG_FORMAT: 'text',
        ...environment,
      },
    });
    const signal = (name: NodeJS.Signals) => {
      try {
        process.kill(-(child.pid ?? 0), name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    };
    t.teardown(() => signal('SIGKILL'));
    return { child, signal, closed: once(child, 'close'), output: collectOutput(child) };
  }

  async function run(commands: string, attempts = 1): Promise<string> {
    const shell = spawnShell(`. ${variables}; trap '{ export -p; declare -f; } > ${variables}' EXIT\n${commands}`);
    const [code] = await shell.closed;
    if (code !== 0 && attempts > 1) return run(commands, attempts - 1);
    if (code !== 0) throw new Error(`exit code ${code} of\n${commands}\n${shell.output()}`);
    return shell.output();
  }

  /** Starts the service by commands that the page states in words. */
  async function start(commands = 'npm start'): Promise<StartedService> {
    const { child, signal, closed, output } = spawnShell(`. ${variables}\n${commands}`);
    await untilListening({ child, output });
    return {
      output,
      async stop(name = 'SIGTERM') {
        signal(name);
        await closed;
      },
    };
  }

  /** Returns a procedure that runs the blocks of a section in order. */
  function open(section: string) {
    const queue = blocks.filter((block) => block.section === section);
    const next = (text: string, own: Record<string, string> = {}) => {
      const block = queue.shift();
      if (!block?.commands.includes(text)) throw new Error(`The next block of ${section} does not contain ${text}`);
      executed.add(block);
      return replacePlaceholders(block.commands, { ...replacements, ...own });
    };
    return {
      /** Runs the next block, which must contain this text, and returns the output. Throws if all attempts fail. */
      run: async (text: string, attempts?: number) => run(next(text), attempts),
      /** Does the same with further placeholders. */
      runWith: async (text: string, own: Record<string, string>) => run(next(text, own)),
      /** Runs the next block, which starts the service. */
      start: async (text: string) => start(next(text)),
    };
  }

  return { directory, url, opsUrl, open, run, start };
}
