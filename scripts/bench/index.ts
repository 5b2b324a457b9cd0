import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { createCommand, integerFrom, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { showProgress } from '../support/progress.js';
import { markdownTable } from '../support/table.js';
import { checkResponses, createDataset } from './dataset.js';
import { type Comparison, compare } from './measure.js';
import { type BenchServer, CHECKOUT, interruption, startServer, startService } from './processes.js';
import { describeConditions, failuresOf, tableRow } from './report.js';
import { copyStores, createEmptyStores, removeStores } from './stores.js';
import { WORKLOADS } from './workloads.js';
import { hasWrk, runWrk } from './wrk.js';

/** The numbers of requests in flight. */
const LEVELS = { full: [1, 32, 128], quick: [8] };

/** The load on each server before the first measurement: Node and the JVM of Neo4j compile only what has run thousands of times. */
const WARM_UP = { inFlight: 128, seconds: 15 };

interface BenchOptions {
  only?: string;
  quick?: boolean;
  /** The directory of another checkout. */
  against?: string;
  rounds?: number;
  seconds?: number;
}

/** Returns the measurements; none if only responses were checked, because wrk is missing. */
async function runAll({ only, quick, ...options }: BenchOptions, folder: string) {
  const { against, rounds = quick ? 1 : 5, seconds = quick ? 1 : 3 } = options;
  const workloads = WORKLOADS.filter(({ name }) => only === undefined || name === only);
  const environment = await createEmptyStores(folder);
  // The other checkout, if any, also creates the data: it is usually an older release, whose data this one can migrate.
  const users = await createDataset(quick ? 'small' : 'full', environment, folder, against ?? CHECKOUT);
  const USERS = join(folder, 'users.json');
  await writeFile(USERS, JSON.stringify(users));
  const started: BenchServer[] = [];
  const start = async (starting: Promise<BenchServer>, isOther = false) => {
    const server = await starting;
    started.push(server);
    await checkResponses(server.url, users, isOther);
    return server;
  };
  try {
    const log = (name: string) => join(folder, `${name}.log`);
    // Started first, because it copies a database that no process may use meanwhile.
    const other =
      against && (await start(startService(against, await copyStores(environment, folder), log('other')), true));
    const baseline = await start(startServer([join(import.meta.dirname, 'baseline.js')], { USERS }, log('baseline')));
    const service = await start(startService(CHECKOUT, environment, log('service')));
    const steps = workloads.flatMap((workload) =>
      LEVELS[quick ? 'quick' : 'full'].map((inFlight) => {
        return { workload, inFlight, requests: users.flatMap(workload.requests) };
      }),
    );
    if (quick && !hasWrk()) return [];
    const [first] = steps;
    if (first && !quick)
      for (const { url } of started) await runWrk(url, first.requests, WARM_UP.inFlight, WARM_UP.seconds, folder);
    return await showProgress(async (progress) => {
      const comparisons: Comparison[] = [];
      for (const [index, step] of steps.entries()) {
        progress('measuring', index, steps.length);
        const servers = { service, baseline, other: (!step.workload.isNew && other) || undefined };
        comparisons.push(await compare(servers, step, { rounds, seconds, folder }));
      }
      return comparisons;
    });
  } finally {
    for (const server of started) await server.stop();
  }
}

async function run(values: BenchOptions): Promise<void> {
  const options = { ...values, ...(values.against && { against: resolve(values.against) }) };
  const { quick, against } = options;
  if (!quick && !hasWrk()) throw new CommandError('Missing: wrk (apt-get install wrk, or brew install wrk)');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
  if (against) execFileSync('npm', ['run', '--silent', 'build'], { cwd: against, stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const comparisons = await runAll(options, folder);
    if (comparisons.length > 0)
      console.log(`${describeConditions(CHECKOUT)}\n\n${markdownTable(comparisons.map(tableRow))}`);
    if (quick) {
      console.log('\nThe responses are the same. Any figures mean nothing: --quick uses little data and few requests.');
      if (comparisons.length === 0) console.log('No load was sent, because wrk is not installed.');
    }
    const failures = comparisons.flatMap(failuresOf);
    for (const failure of failures) console.error(`Failed requests: ${failure}`);
    process.exitCode = failures.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await removeStores();
  }
}

const command = createCommand(
  'bench',
  "Measures the service's requests per second relative to a baseline, on embedded stores or the servers of npm run services.",
)
  .addOption(new Option('--only <workload>', 'measures one workload').choices(WORKLOADS.map(({ name }) => name)))
  .option('--quick', 'only checks that both send the same responses: uses too little data for meaningful figures')
  .option('--against <checkout>', 'also measures the service in another directory, in the same rounds')
  .option('--rounds <n>', 'the number of rounds (default: 5)', integerFrom(1))
  .option('--seconds <n>', 'the length of each measurement (default: 3)', integerFrom(1))
  .action(run);
await runCommand(command, 2);
