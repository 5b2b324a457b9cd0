import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { contract } from '../../scripts/contract-test/document.js';
import { collectOutput } from '../support/output.js';
import { startProcess } from '../support/processes.js';
import { freshStores, temporaryDirectory } from '../support/stores.js';
import { venv } from '../support/venv.js';

/*
 * Schemathesis generates valid and invalid requests from the served document, and checks every response against it. The
 * service runs as a separate process, on the stores of the environment. Every operation has to succeed at least once.
 *
 *   --examples 50      the maximum number of fuzzed requests for an operation
 *   --seeds 1,2,3      one run for each; a random seed if omitted
 */

t.setTimeout(0);

const { values } = parseArgs({ options: { examples: { type: 'string' }, seeds: { type: 'string' } } });
const examples = values.examples ?? '50';
const seeds = values.seeds?.split(',') ?? [String(Date.now() % 1_000_000)];

const HERE = resolve('test/schemathesis');

interface Report {
  schemathesis_version: string;
  running_time: number;
  complete: boolean;
  phases: Record<string, { status: string }>;
  test_cases: { generated: number };
  failures: unknown[];
  errors: unknown[];
}

/** Counts of responses by operation and status. */
type StatusCounts = Record<string, Record<string, number>>;

const bin = await venv('schemathesis', join(HERE, 'requirements.txt'));
// Long timeouts: on a busy machine the first use of a store could return 503.
const timeouts = { DATABASE_TIMEOUT: '30000', NEO4J_TIMEOUT: '30000', S3_TIMEOUT: '30000' };
const service = await startProcess(t, { ...(await freshStores(t)), ...timeouts });

async function runSchemathesis(seed: string): Promise<{ report: Report; statuses: StatusCounts; output: string }> {
  const directory = await temporaryDirectory(t);
  const [reportPath, statusesPath] = [join(directory, 'report.json'), join(directory, 'status-counts.json')];
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
        STATUS_COUNTS: statusesPath,
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
    return { report: await readJson(reportPath), statuses: await readJson(statusesPath), output: output() };
  } catch (cause) {
    throw new Error(`Schemathesis wrote no report:\n${output()}`, { cause });
  }
}

const ids = contract.map(({ id }) => id);

for (const seed of seeds) {
  await t.test(`seed ${seed}`, async (t) => {
    const { report, statuses, output } = await runSchemathesis(seed);
    const withoutSuccess = ids.filter(
      (id) => !Object.keys(statuses[id] ?? {}).some((status) => status.startsWith('2')),
    );
    const { schemathesis_version: version, test_cases: cases, running_time: seconds } = report;
    t.comment(`Schemathesis ${version}: ${cases.generated} cases in ${Math.round(seconds)} s`);
    const { phases, complete, failures, errors } = report;
    const isComplete = complete && Object.values(phases).every(({ status }) => status === 'success');
    if (!isComplete || failures.length > 0 || errors.length > 0) t.fail('Schemathesis found failures', { output });
    t.same(withoutSuccess, [], 'every operation succeeded at least once');
  });
}
