import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { collectOutput, startProcess } from '../support/processes.js';
import { LONG_TIMEOUTS } from '../support/service.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import { venv } from '../support/tools.js';

/*
 * Schemathesis generates valid and invalid requests from the served document, and checks every response against it. The
 * service runs as a separate process, on the stores of the environment.
 *
 *   npm test -- test/schemathesis --test-arg=--examples=300    the maximum number of fuzzed requests for an operation
 *   npm test -- test/schemathesis --test-arg=--seeds=1,2,3     one run for each; a random seed if omitted
 */

t.setTimeout(0);

const { values } = parseArgs({ options: { examples: { type: 'string' }, seeds: { type: 'string' } } });
const examples = values.examples ?? '50';
const seeds = values.seeds?.split(',') ?? [String(Date.now() % 1_000_000)];

const HERE = resolve('test/schemathesis');

const bin = await venv('schemathesis', join(HERE, 'requirements.txt'));
// Long timeouts: on a busy machine the first use of a store could return 503.
const service = await startProcess(t, { ...(await freshStores(t)), ...LONG_TIMEOUTS, S3_TIMEOUT: '20000' });

for (const seed of seeds) {
  await t.test(`seed ${seed}`, async (t) => {
    const options = ['--seed', seed, '--max-examples', examples, '--no-color'];
    const config = ['--config-file', join(HERE, 'schemathesis.toml')];
    const child = spawn(join(bin, 'schemathesis'), [...config, 'run', `${service.url}/openapi.yaml`, ...options], {
      cwd: await temporaryDirectory(t),
      env: { ...process.env, BASE_URL: service.url, PYTHONPATH: HERE, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const output = collectOutput(child);
    const [code] = await once(child, 'close');
    t.equal(code, 0, output());
    t.match(output(), /Stateful.*passed|No issues found/s);
  });
}
