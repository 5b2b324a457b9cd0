import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError } from '../command-error.js';
import { explain } from '../explain.js';
import { createProgressDisplay, type ProgressDisplay } from '../progress.js';
import { servers as serviceServers } from '../services/servers.js';
import { table } from '../table.js';
import { renderChart } from './chart.js';
import { killChildren } from './children.js';
import { createDataset, type Dataset, FULL_SIZE, type Size, SMALL_SIZE } from './data.js';
import type { StackName } from './goals.js';
import { describeMachine } from './machine.js';
import { updateSpeedSection } from './readme.js';
import { failuresOf, renderPage, renderReadmeLine, tableRow } from './report.js';
import { type Outcome, type RunOptions, runMemoryWorkload, runRounds, type Servers, warmUpStores } from './rounds.js';
import { withServers } from './servers.js';
import { openStack, type Stack } from './stack.js';
import { selectWorkloads, WORKLOADS, type Workload } from './workloads.js';

const USAGE = `npm run bench -- [--stack embedded|services] [--only NAME] [--quick] [--rounds N] [--seconds N] [--minutes N] [--write]

Measures the service's requests per second relative to minimal baseline servers. A full run, or --write, updates the results
page, the chart and README.md. --quick uses little data and few requests: it checks responses, but its figures mean nothing.
--minutes sets the duration of --only memory. NAME is one of ${WORKLOADS.map(({ name }) => name).join(', ')}.`;

const RESULTS_FOLDER = join('scripts', 'bench', 'results');

interface Options {
  stack: StackName;
  workloads: Workload[];
  size: Size;
  run: RunOptions;
  write: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      stack: { type: 'string', default: 'embedded' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const { stack, only, quick } = values;
  if (stack !== 'embedded' && stack !== 'services') throw new CommandError(USAGE);
  const positiveNumber = (name: 'rounds' | 'seconds' | 'minutes', defaultValue: number) => {
    const value = Number(values[name] ?? defaultValue);
    if (!(value > 0)) throw new CommandError(`--${name} must be a number above 0`);
    return value;
  };
  const workloads = selectWorkloads(only);
  if (workloads.length === 0) throw new CommandError(USAGE);
  return {
    stack,
    workloads: quick ? workloads.map((workload) => ({ ...workload, inFlight: QUICK_IN_FLIGHT })) : workloads,
    size: quick ? SMALL_SIZE : FULL_SIZE,
    run: {
      stack,
      rounds: positiveNumber('rounds', quick ? 1 : 5),
      seconds: positiveNumber('seconds', quick ? 1 : 5),
      warmUp: quick ? { storesSeconds: 0, workloadSeconds: 0 } : { storesSeconds: 20, workloadSeconds: 2 },
      minutes: positiveNumber('minutes', 10),
    },
    write: values.write ?? !(quick || only !== undefined),
  };
}

const QUICK_IN_FLIGHT = [8];
const MAX_PRINTED_PROBLEMS = 20;

interface Results {
  outcomes: Outcome[];
  /** Descriptions of wrong responses. If there are any, nothing is measured. */
  wrongResponses: string[];
  postgresVersion: string;
}

async function runAll({ workloads, size, run }: Options, stack: Stack, progress: ProgressDisplay): Promise<Results> {
  const results: Results = { outcomes: [], wrongResponses: [], postgresVersion: '' };
  for (const name of new Set(workloads.map(({ dataset }) => dataset))) {
    const dataset = await createDataset(name, size, await stack.createEmptyStores(), progress.show);
    results.postgresVersion = dataset.postgresVersion;
    const selected = workloads.filter((workload) => workload.dataset === name);
    await withServers(dataset, selected, stack.folder, async (servers, wrongResponses) => {
      results.wrongResponses.push(...wrongResponses);
      if (wrongResponses.length > 0) return;
      progress.show(`${name}: warming up`, 0, 1);
      await warmUpStores(dataset, servers, run.warmUp.storesSeconds);
      for (const workload of selected) {
        for (const inFlight of workload.inFlight) {
          results.outcomes.push(await runOne(workload, inFlight, dataset, servers, run, results.outcomes, progress));
        }
      }
    });
    if (results.wrongResponses.length > 0) break;
  }
  return results;
}

async function runOne(
  workload: Workload,
  inFlight: number,
  dataset: Dataset,
  servers: Servers,
  options: RunOptions,
  previous: readonly Outcome[],
  progress: ProgressDisplay,
): Promise<Outcome> {
  const reference = previous.find((each) => each.workload.name === workload.relativeTo && each.inFlight === inFlight);
  const step = `${workload.name}, ${inFlight} in flight`;
  const total = 2 * options.rounds;
  let done = 0;
  progress.show(step, done, total);
  const workloadRun = { workload, inFlight, dataset, servers, relativeToRatio: reference?.ratio.median };
  if (workload.name === 'memory') return runMemoryWorkload(workloadRun, options);
  return runRounds(workloadRun, options, () => progress.show(step, ++done, total));
}

function printResults({ outcomes, wrongResponses }: Results, isSmall: boolean): void {
  const problems = [...wrongResponses.map((problem) => `WRONG: ${problem}`), ...outcomes.flatMap(failuresOf)];
  if (outcomes.length > 0) console.log(table(outcomes.map(tableRow)));
  if (isSmall) console.log('\nThese figures mean nothing: --quick uses little data and few requests.');
  for (const problem of problems.slice(0, MAX_PRINTED_PROBLEMS)) console.error(problem);
  if (problems.length > MAX_PRINTED_PROBLEMS) console.error(`… and ${problems.length - MAX_PRINTED_PROBLEMS} more`);
}

/** Writes the results page and the chart, and updates the README. */
async function writeResults({ stack, run }: Options, { outcomes, postgresVersion }: Results): Promise<void> {
  const services = `PostgreSQL ${postgresVersion}, Neo4j ${serviceServers.neo4j.version()}, S3 by ${serviceServers.s3.title}`;
  const machine = describeMachine(stack === 'embedded' ? `PGlite with PostgreSQL ${postgresVersion}` : services);
  await mkdir(RESULTS_FOLDER, { recursive: true });
  await writeFile(join(RESULTS_FOLDER, `${stack}.md`), renderPage({ ...run, machine, outcomes }));
  await writeFile(join(RESULTS_FOLDER, `${stack}.svg`), renderChart(outcomes));
  const machineLine = `- Measured on ${machine.processor}, Node ${machine.node}, at commit ${machine.commit}: [embedded](scripts/bench/results/embedded.md), [real servers](scripts/bench/results/services.md).`;
  const readme = await readFile('README.md', 'utf8');
  await writeFile('README.md', updateSpeedSection(readme, stack, renderReadmeLine(stack, outcomes), machineLine));
}

/** Makes the next progress report throw after a signal, so that `finally` blocks remove temporary data. */
function withInterrupts({ show, end }: ProgressDisplay): ProgressDisplay {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      interrupted = true;
      killChildren();
    });
  }
  return {
    show(...step) {
      if (interrupted) throw new CommandError('Interrupted');
      show(...step);
    },
    end,
  };
}

async function main(): Promise<number> {
  const options = readOptions();
  const progress = withInterrupts(createProgressDisplay());
  const stack = await openStack(options.stack);
  try {
    const results = await runAll(options, stack, progress);
    progress.end();
    printResults(results, options.size === SMALL_SIZE);
    const hasWrongResponses = results.wrongResponses.length > 0;
    if (options.write && !hasWrongResponses) await writeResults(options, results);
    return hasWrongResponses || results.outcomes.some((outcome) => failuresOf(outcome).length > 0) ? 1 : 0;
  } finally {
    progress.end();
    killChildren();
    await stack.close();
  }
}

process.exitCode = await main().catch((error) => {
  console.error(explain(error));
  return 2;
});
