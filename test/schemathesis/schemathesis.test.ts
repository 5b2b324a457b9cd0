import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { contract } from '../../scripts/contract-test/client/index.js';
import { collectOutput } from '../support/output.js';
import { startProcess } from '../support/processes.js';
import { LONG_TIMEOUTS } from '../support/service.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import { venv } from '../support/venv.js';

/*
 * Schemathesis generates valid and invalid requests from the served document, and checks every response against it. The
 * service runs as a separate process, on the stores of the environment. Every operation has to succeed at least once.
 *
 *   npm test -- test/schemathesis --test-arg=--examples=300    the maximum number of fuzzed requests for an operation
 *   npm test -- test/schemathesis --test-arg=--seeds=1,2,3     one run for each; a random seed if omitted
 */

t.setTimeout(0);

const { values } = parseArgs({ options: { examples: { type: 'string' }, seeds: { type: 'string' } } });
const examples = values.examples ?? '50';
const seeds = values.seeds?.split(',') ?? [String(Date.now() % 1_000_000)];

const HERE = resolve('test/schemathesis');

interface Report {
  complete: boolean;
  phases: Record<string, { status: string }>;
  failures: unknown[];
  errors: unknown[];
}

const bin = await venv('schemathesis', join(HERE, 'requirements.txt'));
// Long timeouts: on a busy machine the first use of a store could return 503.
const service = await startProcess(t, { ...(await freshStores(t)), ...LONG_TIMEOUTS, S3_TIMEOUT: '20000' });

async function runSchemathesis(seed: string): Promise<{ report: Report; succeeded: string[]; output: string }> {
  const directory = await temporaryDirectory(t);
  const [reportPath, succeededPath] = [join(directory, 'report.json'), join(directory, 'succeeded.json')];
  const child = spawn(
    join(bin, 'schemathesis'),
    [
      ...['--config-file', join(HERE, 'schemathesis.toml'), 'run', `${service.url}/openapi.yaml`],
      ...['--seed', seed, '--max-examples', examples, '--no-color'],
      ...['--report', 'json', '--report-json-path', reportPath],
    ],
    {
      cwd: directory,
      env: {
        ...process.env,
        BASE_URL: service.url,
        SUCCEEDED_OPERATIONS: succeededPath,
        PYTHONPATH: HERE,
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const output = collectOutput(child);
  await once(child, 'close');
  const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
  try {
    return { report: await readJson(reportPath), succeeded: await readJson(succeededPath), output: output() };
  } catch (cause) {
    throw new Error(`Schemathesis wrote no report:\n${output()}`, { cause });
  }
}

const ids = contract.map(({ id }) => id).sort();

for (const seed of seeds) {
  await t.test(`seed ${seed}`, async (t) => {
    const { report, succeeded, output } = await runSchemathesis(seed);
    const { phases, complete, failures, errors } = report;
    const isComplete = complete && Object.values(phases).every(({ status }) => status === 'success');
    if (!isComplete || failures.length > 0 || errors.length > 0) t.fail('Schemathesis found failures', { output });
    t.same(succeeded.sort(), ids, 'every operation succeeded at least once');
  });
}
