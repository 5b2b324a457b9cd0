import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Comparison, Measurement } from './measure.js';
import { median, percentile } from './statistics.js';

/** Above this share of a core, the load generator may limit a figure. */
const MAX_GENERATOR_CPU = 0.8;

/** Formats a number with three significant digits, or as an integer from 100 on. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

/** Formats the median of the ratios of the rounds, with their minimum and maximum. */
function formatRatio(subject: readonly Measurement[], other: readonly Measurement[]): string {
  const ratios = subject.map(({ rate }, round) => rate / (other[round]?.rate ?? Number.NaN));
  return `${formatFigure(median(ratios))} (${formatFigure(percentile(ratios, 0))}–${formatFigure(percentile(ratios, 1))})`;
}

const medianOf = (measurements: readonly Measurement[], select: (measurement: Measurement) => number) =>
  median(measurements.map(select));

export function tableRow({ workload, inFlight, service, baseline, other }: Comparison): Record<string, string> {
  const generatorCpu = Math.max(...[service, baseline].map((each) => medianOf(each, (one) => one.generatorCpu)));
  return {
    Workload: workload.title,
    'In flight': String(inFlight),
    'Ratio (min–max)': formatRatio(service, baseline),
    ...(other.length > 0 && { 'To the other checkout': formatRatio(service, other) }),
    'Requests/s': formatFigure(medianOf(service, ({ rate }) => rate)),
    'Baseline/s': formatFigure(medianOf(baseline, ({ rate }) => rate)),
    'p50 ms': formatFigure(medianOf(service, ({ p50 }) => p50)),
    'p99 ms': formatFigure(medianOf(service, ({ p99 }) => p99)),
    'CPU ms/request': formatFigure(medianOf(service, ({ cpuMs }) => cpuMs)),
    'Load generator': `${Math.round(100 * generatorCpu)} %${generatorCpu > MAX_GENERATOR_CPU ? ', **too much**' : ''}`,
  };
}

/** Describes the responses without a 2xx status and the requests without a response. */
export const failuresOf = ({ workload, inFlight, service, baseline, other }: Comparison): string[] =>
  [...service, ...baseline, ...other].flatMap(({ failures }) =>
    Object.entries(failures).map(([kind, count]) => `${workload.name}, ${inFlight} in flight: ${count} × ${kind}`),
  );

/** Describes the machine, and the commit of a checkout. */
export function describeConditions(checkout: string): string {
  const commit = execFileSync('git', ['-C', checkout, 'describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  const processor = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? process.arch}`;
  return `${processor}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, commit ${commit}`;
}
