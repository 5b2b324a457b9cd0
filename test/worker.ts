import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

/*
 * Runs test files in one process, each as a subtest. A process of its own for each file would need a second of CPU time to load
 * the service. `run.ts` starts a few workers with the same list of files. Each worker runs the next file that no worker has
 * claimed.
 */

const { TEST_FILES = '', TEST_CLAIMS = '' } = process.env;

/** Claims a file. Returns false if another worker has already claimed it. */
function claim(file: string): boolean {
  try {
    mkdirSync(join(TEST_CLAIMS, file.replaceAll('/', ' ')));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

const FILE_TIMEOUT_MS = 900_000;

const addTest = t.test.bind(t);

for (const file of TEST_FILES.split(',')) {
  if (!claim(file)) continue;
  const startedAt = performance.now();
  await addTest(file, { timeout: FILE_TIMEOUT_MS }, async (subtest: Test) => {
    // Tests and teardowns that the file adds to tap's root test belong to this subtest, so that the teardowns run when the
    // tests of the file have ended, before the next file.
    const { test, teardown, setTimeout } = subtest;
    Object.assign(t, {
      test: test.bind(subtest),
      teardown: teardown.bind(subtest),
      setTimeout: setTimeout.bind(subtest),
    });
    subtest.once('end', () => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      console.error(`${subtest.passing() ? 'passed' : 'FAILED'}  ${file}  ${seconds} s`);
    });
    await import(`./${file}.test.js`);
  });
}
