import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { contract } from '../../scripts/contract-test/document.js';
import { table } from '../../scripts/table.js';
import { collectOutput } from '../support/output.js';
import { startProcess } from '../support/processes.js';
import { freshStores, onServices, temporaryDirectory } from '../support/stores.js';
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
  test_cases: { generated: number; unique_failures: number };
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
/** Returns the number of responses whose status begins with these digits. */
const countResponses = (counts: Record<string, number> = {}, digits = '') =>
  Object.entries(counts).reduce((total, [status, count]) => total + (status.startsWith(digits) ? count : 0), 0);

const rows: Record<string, string>[] = [];
const totals: StatusCounts = {};
let version = '';

for (const seed of seeds) {
  await t.test(`seed ${seed}`, async (t) => {
    const { report, statuses, output } = await runSchemathesis(seed);
    version = report.schemathesis_version;
    const withoutSuccess = ids.filter((id) => countResponses(statuses[id], '2') === 0);
    const row = {
      seed,
      cases: String(report.test_cases.generated),
      responses: String(ids.reduce((total, id) => total + countResponses(statuses[id]), 0)),
      'operations with 2xx': `${ids.length - withoutSuccess.length} of ${ids.length}`,
      failures: String(report.test_cases.unique_failures),
      seconds: String(Math.round(report.running_time)),
    };
    rows.push(row);
    t.comment(table([row]));
    for (const [id, counts] of Object.entries(statuses)) {
      for (const [status, count] of Object.entries(counts)) {
        totals[id] = { ...totals[id], [status]: (totals[id]?.[status] ?? 0) + count };
      }
    }
    const { phases, complete, failures, errors } = report;
    const isComplete = complete && Object.values(phases).every(({ status }) => status === 'success');
    if (!isComplete || failures.length > 0 || errors.length > 0) t.fail('Schemathesis found failures', { output });
    t.same(withoutSuccess, [], 'every operation succeeded at least once');
  });
}

t.comment(`Schemathesis ${version}, ${examples} examples, ${onServices ? 'real servers' : 'embedded stores'}`);
t.comment(
  table(
    ids.map((operation) => ({
      operation,
      ...Object.fromEntries(
        ['2', '3', '4', '5'].map((digit) => [`${digit}xx`, String(countResponses(totals[operation], digit))]),
      ),
    })),
  ),
);
t.comment(table(rows));
