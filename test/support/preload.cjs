/* Preloaded into every test process: see `tap` in package.json. */

const { existsSync, statfsSync } = require('node:fs');
const nodeModule = require('node:module');
const { join, relative } = require('node:path');

// Runs the built file of a test, such as `.build/test/feed.test.js` for `test/feed.test.ts`. Processes that a test forks run
// built files already.
const { runMain } = nodeModule;
nodeModule.runMain = (main) =>
  runMain(main.endsWith('.ts') ? join('.build', relative('.', main)).replace(/\.ts$/, '.js') : main);

// To learn which files a test covers, tap hooks into the loading of modules, in the test's process and in each Node process that
// it starts, even when coverage is disabled. That would double the time to load the service. The second line tells tap that it
// has already done so in this process.
nodeModule.register = nodeModule.registerHooks = () => undefined;
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [] };

// Linux's directory in memory, if it has enough space: each set of stores starts with a thousand small files.
const MEMORY_DIRECTORY = '/dev/shm';
const MEMORY_DIRECTORY_MIN_BYTES = 4 * 1024 ** 3;
if (!process.env.TMPDIR && existsSync(MEMORY_DIRECTORY)) {
  const { bavail, bsize } = statfsSync(MEMORY_DIRECTORY);
  if (bavail * bsize >= MEMORY_DIRECTORY_MIN_BYTES) process.env.TMPDIR = MEMORY_DIRECTORY;
}
