import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option } from 'commander';
import { createCommand, parseInteger, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { type Progress, showProgress } from '../support/progress.js';
import { table } from '../support/table.js';
import { renderChart } from './chart.js';
import { checkServers } from './check.js';
import { createDataset } from './dataset.js';
import { CHECKOUT, interruption } from './processes.js';
import { describeCommit, describeMachine, failuresOf, renderResults, replaceResults, tableRow } from './report.js';
import { GENERATOR, type Outcome, runRounds, warmUpStores } from './rounds.js';
import { type ServerName, type Servers, withServers } from './servers.js';
import { removeStores, STACK, storeServers } from './stores.js';
import { selectWorkloads, WORKLOADS } from './workloads.js';

interface BenchOptions {
  only?: string;
  quick?: boolean;
  /** The directory of another checkout. */
  against?: string;
  rounds?: number;
  seconds?: number;
  publish?: boolean;
}

/** The options with their defaults. */
type Options = ReturnType<typeof completeOptions>;

function completeOptions({ only, quick = false, publish = false, against, ...values }: BenchOptions) {
  const { rounds = quick ? 1 : 5, seconds = quick ? 0.5 : 3 } = values;
  return { only, quick, publish, against: against && resolve(against), rounds, seconds, warmUpSeconds: quick ? 0 : 2 };
}

const QUICK_LEVELS = [8];

async function runAll(options: Options, folder: string, onOutcome: (outcome: Outcome) => void): Promise<void> {
  const { only, quick, against, rounds } = options;
  const workloads = selectWorkloads(only).filter(({ goals }) => goals[STACK]);
  if (workloads.length === 0) throw new CommandError(`--only: ${only} is not measured on the stack "${STACK}"`);
  // The other checkout, if any, also creates the data: it is usually an older release, whose data this one can migrate.
  const otherDirectory = against ?? CHECKOUT;
  for (const name of new Set(workloads.map(({ dataset }) => dataset))) {
    const selected = workloads.filter(({ dataset }) => dataset === name);
    const dataset = await createDataset(name, quick ? 'small' : 'full', folder, otherDirectory);
    const needed = new Set<ServerName>(selected.flatMap(({ subject, baseline }) => [subject.server, baseline.server]));
    if (against !== undefined) needed.add('otherCheckout');
    const measure = async (servers: Servers, progress: Progress) => {
      await checkServers(servers, dataset);
      const [first] = selected;
      if (first && !quick) await warmUpStores(first, dataset, servers);
      for (const workload of selected) {
        const { levels, [STACK]: minimums } = workload.goals;
        for (const [index, inFlight] of (quick ? QUICK_LEVELS : levels).entries()) {
          const goal = quick ? undefined : minimums?.[index];
          const onRound = (round: number) => progress(`${workload.title}, ${inFlight} in flight`, round, rounds);
          const results = await runRounds(workload, inFlight, dataset, servers, options, onRound);
          onOutcome({ workload, inFlight, goal, ...results });
        }
      }
    };
    await showProgress((progress) =>
      withServers(needed, dataset, folder, otherDirectory, (servers) => measure(servers, progress)),
    );
  }
}

async function publish({ against, rounds, seconds }: Options, outcomes: readonly Outcome[]): Promise<void> {
  const folder = join(CHECKOUT, 'scripts/bench');
  await mkdir(join(folder, 'results'), { recursive: true });
  await writeFile(join(folder, 'results', `${STACK}.svg`), renderChart(outcomes));
  const conditions = [
    describeMachine(),
    storeServers()
      .map(([name, { version }]) => `${name} ${version}`)
      .join(', ') || 'embedded stores',
    `commit ${describeCommit(CHECKOUT)}`,
    ...(against === undefined ? [] : [`the other checkout is ${describeCommit(against)}`]),
    `${new Date().toISOString().slice(0, 10)}: ${rounds} rounds of ${seconds} s, load by ${GENERATOR}.`,
  ];
  const readme = join(folder, 'README.md');
  const results = renderResults(STACK, outcomes, conditions.join('; '));
  await writeFile(readme, replaceResults(await readFile(readme, 'utf8'), STACK, results));
}

async function run(values: BenchOptions): Promise<void> {
  const options = completeOptions(values);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
  if (options.against) execFileSync('npm', ['run', '--silent', 'build'], { cwd: options.against, stdio: 'inherit' });
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const outcomes: Outcome[] = [];
  try {
    await runAll(options, folder, (outcome) => outcomes.push(outcome));
    console.log(table(outcomes.map((outcome) => tableRow(outcome, outcomes))));
    if (options.quick) console.log('\nThese figures mean nothing: --quick uses little data and few requests.');
    const failures = outcomes.flatMap(failuresOf);
    for (const failure of failures) console.error(`Failed requests: ${failure}`);
    if (options.publish && failures.length === 0) await publish(options, outcomes);
    process.exitCode = failures.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await removeStores();
  }
}

const command = createCommand(
  'bench',
  'Measures requests per second relative to baselines, on embedded stores or on the servers of npm run services.',
)
  .addOption(new Option('--only <workload>', 'measures one workload').choices(WORKLOADS.map(({ name }) => name)))
  .option('--quick', 'only checks that the responses are the same: uses too little data for meaningful figures')
  .option('--against <checkout>', 'also measures the service in another directory, in the same rounds')
  .option('--rounds <n>', 'the number of rounds', parseInteger)
  .option('--seconds <n>', 'the duration of a round', parseInteger)
  .addOption(new Option('--publish', 'writes the results into scripts/bench').conflicts(['quick', 'only']))
  .action(run);
await runCommand(command, 2);
