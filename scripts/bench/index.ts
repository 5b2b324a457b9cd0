import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../support/command.js';
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

const USAGE = `npm run bench -- [--only NAME] [--quick] [--against CHECKOUT] [--rounds N] [--seconds N]

Measures the service's requests per second relative to a baseline, on embedded stores, or on real servers if started by
npm run services -- run -- npm run bench. --quick only checks that the service and the baseline send the same responses: it
uses too little data for meaningful figures. --against also measures the service of another checkout, in the same rounds.
NAME is one of ${WORKLOADS.map(({ name }) => name).join(', ')}.`;

/** The numbers of requests in flight. */
const LEVELS = { full: [1, 32, 128], quick: [8] };

/** The load before the first measurement: the JVM of Neo4j compiles only what has run thousands of times. */
const WARM_UP = { inFlight: 128, seconds: 15 };

/** `against` is the directory of another checkout. */
type BenchOptions = ReturnType<typeof readOptions>;

function readOptions() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      against: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const { only, quick } = values;
  const [rounds, seconds] = [Number(values.rounds ?? (quick ? 1 : 5)), Number(values.seconds ?? (quick ? 1 : 3))];
  const workloads = WORKLOADS.filter(({ name }) => only === undefined || name === only);
  if (![rounds, seconds].every((each) => Number.isInteger(each) && each > 0) || workloads.length === 0)
    throw new CommandError(USAGE);
  return { workloads, quick, against: values.against && resolve(values.against), rounds, seconds };
}

/** Returns the measurements; none if only responses were checked, because wrk is missing. */
async function runAll({ workloads, quick, against, rounds, seconds }: BenchOptions, folder: string) {
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
    if (first && !quick) await runWrk(service.url, first.requests, WARM_UP.inFlight, WARM_UP.seconds, folder);
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

await runCommand(async () => {
  const options = readOptions();
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
}, 2);
