import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { updateGenerated } from './generate/files.js';

/*
 * Builds and runs the service, and rebuilds and restarts it after every change to its code or `openapi.yaml`. The generator
 * stays loaded, because loading it takes longer than running it. If a build fails, the previous one keeps running.
 */

const CONTRACT = 'openapi.yaml';
const SOURCES = ['db', 'handlers', 'scripts'];

/** An editor may save several files, or one file in several steps. */
const DEBOUNCE_MS = 50;

/** How long requests in progress may delay a restart. After that the service is killed, which the embedded stores survive. */
const STOP_TIMEOUT_MS = 1000;

let service: ChildProcess | undefined;
let contractChanged = true;
let reportChange = () => {};

for (const directory of SOURCES) watch(directory, { recursive: true }, () => reportChange());
// Watches the folder instead of the file, because many editors replace the file.
watch('.', (_, name) => {
  if (name !== CONTRACT) return;
  contractChanged = true;
  reportChange();
});

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

function start(): ChildProcess {
  // Optimizing the WebAssembly of PGlite would slow the start down.
  const args = ['--liftoff-only', '--enable-source-maps', '.build/scripts/start.js'];
  // The service stops when the channel closes, however this process ends.
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  return spawn(process.execPath, args, { stdio: [...stdio] });
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  clearTimeout(killTimer);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stop(service).then(() => process.exit(0)));
}

for (;;) {
  // A change during the build triggers another one.
  const changed = new Promise<void>((resolve) => {
    reportChange = resolve;
  });
  try {
    await build();
    await stop(service);
    service = start();
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    // esbuild's launcher prints its own stack below the problems.
    console.error(stderr?.split(/^node:/m)[0] || message);
  }
  await changed;
  await sleep(DEBOUNCE_MS);
}
