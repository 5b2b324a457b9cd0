import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { contract } from '../../scripts/contract-test/document.js';
import { table } from '../../scripts/table.js';
import { startProcess } from '../support/processes.js';
import { freshStores, onServices, temporaryDirectory } from '../support/stores.js';
import { venv } from '../support/venv.js';

/*
 * Schemathesis reads the document as served, makes requests of it, valid and not, and holds every answer against it. The
 * service runs as a process of its own, on the stores that the variables name. Every operation has to succeed at least once.
 *
 *   --examples 50      how many requests the fuzzing of an operation makes at most
 *   --seeds 1,2,3      by which each run is made; one by the clock if none is named
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

/** How often each operation gave which status. */
type Answers = Record<string, Record<string, number>>;

const bin = await venv('schemathesis', join(HERE, 'requirements.txt'));
// What is slow on a busy machine is not wrong: stores get time, or each first use of one could be a 503.
const patience = { DATABASE_TIMEOUT: '30000', NEO4J_TIMEOUT: '30000', S3_TIMEOUT: '30000' };
const service = await startProcess(t, { ...(await freshStores(t)), ...patience });

async function play(seed: string): Promise<{ report: Report; answers: Answers; output: string }> {
  const directory = await temporaryDirectory(t);
  const [report, answers] = [join(directory, 'report.json'), join(directory, 'answers.json')];
  const child = spawn(
    join(bin, 'schemathesis'),
    [
      ...['--config-file', join(HERE, 'schemathesis.toml'), 'run', `${service.url}/openapi.yaml`],
      ...['--seed', seed, '--max-examples', examples, '--no-color'],
      ...['--report', 'json', '--report-json-path', report],
    ],
    {
      cwd: directory,
      env: {
        ...process.env,
        BASE_URL: service.url,
        ANSWERS: answers,
        PYTHONPATH: HERE,
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  await once(child, 'close');
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
  try {
    return { report: await read(report), answers: await read(answers), output };
  } catch (cause) {
    throw new Error(`Schemathesis gave no report:\n${output}`, { cause });
  }
}

const ids = contract.map(({ id }) => id);
const sum = (answers: Record<string, number> = {}, first = '') =>
  Object.entries(answers).reduce((total, [status, count]) => total + (status.startsWith(first) ? count : 0), 0);

const rows: Record<string, string>[] = [];
const total: Answers = {};
let version = '';

for (const seed of seeds) {
  await t.test(`seed ${seed}`, async (t) => {
    const { report, answers, output } = await play(seed);
    version = report.schemathesis_version;
    const unreached = ids.filter((id) => sum(answers[id], '2') === 0);
    const row = {
      seed,
      cases: String(report.test_cases.generated),
      answers: String(ids.reduce((total, id) => total + sum(answers[id]), 0)),
      'operations with 2xx': `${ids.length - unreached.length} of ${ids.length}`,
      failures: String(report.test_cases.unique_failures),
      seconds: String(Math.round(report.running_time)),
    };
    rows.push(row);
    t.comment(table([row]));
    for (const [id, counts] of Object.entries(answers)) {
      for (const [status, count] of Object.entries(counts)) {
        total[id] = { ...total[id], [status]: (total[id]?.[status] ?? 0) + count };
      }
    }
    const { phases, complete, failures, errors } = report;
    const done = complete && Object.values(phases).every(({ status }) => status === 'success');
    if (!done || failures.length > 0 || errors.length > 0) t.fail('Schemathesis has found something', { output });
    t.same(unreached, [], 'every operation has succeeded');
  });
}

t.comment(`Schemathesis ${version}, ${examples} examples, ${onServices ? 'real servers' : 'embedded stores'}`);
t.comment(
  table(
    ids.map((operation) => ({
      operation,
      ...Object.fromEntries(['2', '3', '4', '5'].map((first) => [`${first}xx`, String(sum(total[operation], first))])),
    })),
  ),
);
t.comment(table(rows));
