import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { watch } from 'chokidar';
import { updateGenerated } from './generate/files.js';
import { createCommand, runCommand } from './support/command.js';

/*
 * Builds and runs the service, and rebuilds and restarts it after every change to its code or `openapi.yaml`. The generator
 * stays loaded, because loading it takes longer than running it. If a build fails, the previous one keeps running.
 */

const CONTRACT = 'openapi.yaml';

/** An editor may save several files, or one file in several steps. */
const DEBOUNCE_MS = 50;

/** How long requests in progress may delay a restart. After that the service is killed, which the embedded stores survive. */
const STOP_TIMEOUT_MS = 1000;

let service: ChildProcess | undefined;
let contractChanged = true;

async function build(): Promise<void> {
  if (contractChanged) {
    contractChanged = false;
    const written = await updateGenerated().catch((error) => {
      contractChanged = true;
      throw error;
    });
    if (written.length > 0) console.log(`Wrote ${written.join(', ')}.`);
  }
  await promisify(execFile)('npm', ['run', '--silent', 'build']);
}

function start(): void {
  // Optimizing the WebAssembly of PGlite would slow the start down.
  const args = ['--liftoff-only', '--enable-source-maps', '.build/scripts/start.js'];
  // The service stops when the channel closes, however this process ends.
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.once('exit', () => {
    if (child !== service) return;
    service = undefined;
    console.error('The service has stopped. Waiting for a change.');
  });
  service = child;
}

async function stop(): Promise<void> {
  const child = service;
  service = undefined;
  if (!child) return;
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  clearTimeout(killTimer);
}

async function run(): Promise<never> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop().then(() => process.exit()));
  let reportChange = () => {};
  const watcher = watch(['db', 'handlers', 'scripts', CONTRACT], { ignoreInitial: true });
  watcher.on('all', (_, path) => {
    if (path === CONTRACT) contractChanged = true;
    reportChange();
  });
  await once(watcher, 'ready');
  for (;;) {
    // A change during the build triggers another one.
    const changed = new Promise<void>((resolve) => {
      reportChange = resolve;
    });
    try {
      await build();
      await stop();
      start();
    } catch (error) {
      const { stderr, message } = error as Error & { stderr?: string };
      // esbuild's launcher prints its own stack below the problems.
      console.error(stderr?.split(/^node:/m)[0] || message);
      console.error(`The service is ${service ? 'still the previous build' : 'not running'}. Waiting for a change.`);
    }
    await changed;
    await sleep(DEBOUNCE_MS);
  }
}

await runCommand(
  createCommand('dev', 'Runs the service, and builds and restarts it after every change of the code.').action(run),
);
