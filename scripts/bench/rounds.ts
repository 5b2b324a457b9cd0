import pidusage from 'pidusage';
import type { PasswordJob } from './baselines/passwords.js';
import { runScript, type Server } from './children.js';
import type { Dataset } from './data.js';
import { type Goal, goalOf, isGoalMet, type StackName } from './goals.js';
import { type Measurement, measure } from './measure.js';
import { median, rotate, type Spread, spreadOf } from './statistics.js';
import { FEED, type LoadSpec, type ServerName, type Workload } from './workloads.js';

/** The result of one workload at one number of requests in flight. */
export interface Outcome {
  workload: Workload;
  inFlight: number;
  goal: Goal | undefined;
  /**
   * The ratio of the subject's rate to the baseline's, over the rounds; divided by `relativeToRatio` if that is set. Of the
   * memory workload: each sample of the second half, divided by the median of the first half.
   */
  ratio: Spread;
  subject: Measurement;
  baseline: Measurement;
  /** Undefined without a goal. */
  goalMet: boolean | undefined;
}

export interface RunOptions {
  stack: StackName;
  rounds: number;
  /** The duration of one measurement. A round has two: the baseline's and the subject's. */
  seconds: number;
  /** The durations of unmeasured load: once per dataset, and before the rounds at each number of requests in flight. */
  warmUp: { storesSeconds: number; workloadSeconds: number };
  /** The duration of the `memory` workload. */
  minutes: number;
}

export type Servers = Readonly<Partial<Record<ServerName, Server>>>;

type Run = (seconds: number) => Promise<Measurement>;

/** Runs the rounds of a workload, alternating between subject and baseline so that both see the same state of the machine. */
export async function runRounds(
  { workload, inFlight, dataset, servers, relativeToRatio }: WorkloadRun,
  options: RunOptions,
  onRunDone: () => void,
): Promise<Outcome> {
  const runs = {
    subject: await prepareRun(workload.subject, inFlight, dataset, servers),
    baseline: await prepareRun(workload.baseline, inFlight, dataset, servers),
  };
  const measurements: Record<keyof typeof runs, Measurement[]> = { subject: [], baseline: [] };
  const names = ['subject', 'baseline'] as const;
  const { workloadSeconds } = options.warmUp;
  if (workloadSeconds > 0) for (const name of names) await runs[name](workloadSeconds);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const name of rotate(names, round)) {
      measurements[name].push(await runs[name](options.seconds));
      onRunDone();
    }
  }
  const ratios = measurements.subject.map(
    ({ rate }, round) => rate / (measurements.baseline[round]?.rate ?? Number.NaN),
  );
  const ratio = spreadOf(ratios.map((each) => each / (relativeToRatio ?? 1)));
  const [subject, baseline] = [summarize(measurements.subject), summarize(measurements.baseline)];
  return createOutcome(options.stack, workload, inFlight, ratio, subject, baseline);
}

interface WorkloadRun {
  workload: Workload;
  inFlight: number;
  dataset: Dataset;
  servers: Servers;
  /** The median ratio of the workload in `workload.relativeTo`. */
  relativeToRatio: number | undefined;
}

/** Samples the service's memory, drops the first tenth as warm-up, and compares the second half of the rest with the first. */
export async function runMemoryWorkload(
  { workload, inFlight, dataset, servers }: WorkloadRun,
  options: RunOptions,
): Promise<Outcome> {
  const server = servers.service;
  if (!server) throw new Error('The service is not running');
  const samples: number[] = [];
  const timer = setInterval(() => {
    pidusage(server.pid).then(
      ({ memory }) => samples.push(memory),
      () => undefined,
    );
  }, 1000);
  const run = await prepareRun(workload.subject, inFlight, dataset, servers);
  const subject = await run(options.minutes * 60).finally(() => clearInterval(timer));
  const warm = samples.slice(Math.floor(samples.length / 10));
  const half = Math.floor(warm.length / 2);
  const firstHalf = median(warm.slice(0, half));
  const ratio = spreadOf(warm.slice(half).map((memory) => memory / firstHalf));
  return createOutcome(options.stack, workload, inFlight, ratio, subject, { ...subject, rssBytes: firstHalf });
}

function createOutcome(
  stack: StackName,
  workload: Workload,
  inFlight: number,
  ratio: Spread,
  subject: Measurement,
  baseline: Measurement,
): Outcome {
  const goal = goalOf(stack, workload.name, inFlight);
  return { workload, inFlight, goal, ratio, subject, baseline, goalMet: isGoalMet(goal, ratio, subject) };
}

async function prepareRun(
  load: Workload['baseline'],
  inFlight: number,
  dataset: Dataset,
  servers: Servers,
): Promise<Run> {
  if (load === 'passwords') {
    const { passwordHash: hash, password } = dataset;
    return (seconds) =>
      runScript<Measurement>('./baselines/passwords.js', { hash, password, inFlight, seconds } satisfies PasswordJob);
  }
  const server = servers[load.target];
  if (!server) throw new Error(`The ${load.target} server is not running`);
  const job = await createJob(load, inFlight, dataset, server);
  const backgroundJob = load.background && (await createJob(load.background, BACKGROUND_IN_FLIGHT, dataset, server));
  return async (seconds) => {
    // Lasts longer than the measured load, so that it covers the whole measurement.
    const background =
      backgroundJob && runScript('./load.js', { ...backgroundJob, url: server.url, seconds: seconds + 2 });
    const measurement = await measure(server, { ...job, seconds });
    await background;
    return measurement;
  };
}

/** Sends the load of the `feed` workload, because a newly started Neo4j takes a while to reach full speed. */
export async function warmUpStores(dataset: Dataset, servers: Servers, seconds: number): Promise<void> {
  if (seconds > 0) await (await prepareRun(FEED, BACKGROUND_IN_FLIGHT, dataset, servers))(seconds);
}

/** The number of requests in flight while the stores are warmed up, and in background load. */
const BACKGROUND_IN_FLIGHT = 32;

async function createJob(load: LoadSpec, inFlight: number, dataset: Dataset, server: Server) {
  const { maxRequests } = load;
  const sequences = await load.sequences(dataset, server.url);
  return { inFlight, sequences, ...(maxRequests !== undefined && { maxRequests }) };
}

/** Returns the medians of all figures, and the sums of the failures. */
function summarize(measurements: readonly Measurement[]): Measurement {
  const medianOf = (name: Exclude<keyof Measurement, 'failures'>) => median(measurements.map((each) => each[name]));
  const failures: Record<string, number> = {};
  for (const [outcome, count] of measurements.flatMap((each) => Object.entries(each.failures))) {
    failures[outcome] = (failures[outcome] ?? 0) + count;
  }
  return {
    rate: medianOf('rate'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    cpuMs: medianOf('cpuMs'),
    rssBytes: medianOf('rssBytes'),
    generatorCpuShare: medianOf('generatorCpuShare'),
    failures,
  };
}
