import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { markdownTable } from '../support/table.js';
import type { Measurement, Outcome } from './rounds.js';
import { median, percentile } from './statistics.js';
import type { StackName } from './stores.js';

/** Above this share of a core, the load generator may limit a figure. */
const MAX_GENERATOR_CPU = 0.8;

/** Formats a number with three significant digits, or as an integer from 100 on. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

/** Returns the median of a figure over the rounds. */
export const figureOf = (measurements: readonly Measurement[], select: (measurement: Measurement) => number): number =>
  median(measurements.map(select));

const ratiosTo = (subject: readonly Measurement[], other: readonly Measurement[], divisor = 1) =>
  subject.map(({ rate }, round) => rate / (other[round]?.rate ?? Number.NaN) / divisor);

/** Returns the ratio to the baseline in each round, divided by the ratio of the workload in `relativeTo`. */
export function ratiosOf({ workload, inFlight, subject, baseline }: Outcome, all: readonly Outcome[]): number[] {
  const reference = all.find((each) => each.workload.name === workload.relativeTo && each.inFlight === inFlight);
  return ratiosTo(subject, baseline, reference && median(ratiosOf(reference, all)));
}

const formatRatios = (ratios: readonly number[]) =>
  `${formatFigure(median(ratios))} (${formatFigure(percentile(ratios, 0))}–${formatFigure(percentile(ratios, 1))})`;

/** Formats the CPU time of the server, followed by that of the stores, as far as it could be measured. */
const formatCpu = (measurements: readonly Measurement[]) =>
  Object.keys(measurements[0]?.cpuMs ?? {})
    .flatMap((name) => {
      const rounds = measurements.flatMap(({ cpuMs }) => cpuMs[name] ?? []);
      if (rounds.length === 0) return [];
      const figure = formatFigure(median(rounds));
      return name === 'server' ? figure : `${name} ${figure}`;
    })
    .join(', ');

/** @param all the outcomes so far, for workloads with `relativeTo` */
export function tableRow(outcome: Outcome, all: readonly Outcome[]): Record<string, string> {
  const { workload, inFlight, goal, subject, baseline, otherCheckout } = outcome;
  const ratios = ratiosOf(outcome, all);
  const generatorCpu = Math.max(...[subject, baseline].map((each) => figureOf(each, (one) => one.generatorCpu)));
  return {
    Workload: workload.title,
    'In flight': String(inFlight),
    'Ratio (min–max)': formatRatios(ratios),
    Goal: goal === undefined ? '' : `≥ ${goal}: ${median(ratios) >= goal ? 'yes' : '**no**'}`,
    ...(otherCheckout.length > 0 && { 'To the other checkout': formatRatios(ratiosTo(subject, otherCheckout)) }),
    'Requests/s': formatFigure(figureOf(subject, ({ rate }) => rate)),
    'p50 ms': formatFigure(figureOf(subject, ({ p50 }) => p50)),
    'p99 ms': formatFigure(figureOf(subject, ({ p99 }) => p99)),
    'Baseline/s': `${workload.baseline.server} ${formatFigure(figureOf(baseline, ({ rate }) => rate))}`,
    'CPU ms/request': formatCpu(subject),
    'Load generator': `${Math.round(100 * generatorCpu)} %${generatorCpu > MAX_GENERATOR_CPU ? ', **too much**' : ''}`,
  };
}

/** Describes the responses without a 2xx status and the requests without a response. */
export const failuresOf = ({ workload, inFlight, subject, baseline, otherCheckout }: Outcome): string[] =>
  [subject, baseline, otherCheckout]
    .flat()
    .flatMap(({ failures }) =>
      Object.entries(failures).map(([name, count]) => `${workload.name}, ${inFlight} in flight: ${count} × ${name}`),
    );

/** Returns the results of one stack in Markdown. */
export const renderResults = (stack: StackName, outcomes: readonly Outcome[], conditions: string): string =>
  `${conditions}

![Ratios with goals, and latencies](results/${stack}.svg)

${markdownTable(outcomes.map((outcome) => tableRow(outcome, outcomes)))}`;

/** Replaces the results of one stack in a document. */
export function replaceResults(document: string, stack: StackName, results: string): string {
  const [begin, end] = [`<!-- ${stack}: written by npm run bench -->`, `<!-- end of ${stack} -->`];
  const [start, stop] = [document.indexOf(begin), document.indexOf(end)];
  if (start < 0 || stop < start) throw new Error(`Expected ${begin} and ${end}`);
  return `${document.slice(0, start)}${begin}\n\n${results}\n\n${document.slice(stop)}`;
}

/** Describes the commit of a checkout, without the files that a run writes itself. */
export function describeCommit(checkout: string): string {
  const git = (...args: string[]) => spawnSync('git', ['-C', checkout, ...args], { encoding: 'utf8' }).stdout?.trim();
  const changes = git('status', '--porcelain', '--', '.', ':!scripts/bench/README.md', ':!scripts/bench/results');
  return `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changes ? ' with changes' : ''}`;
}

export function describeMachine(): string {
  const processor = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? process.arch}`;
  return `${processor}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}
