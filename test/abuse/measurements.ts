import { percentile } from '../../scripts/bench/statistics.js';
import type { Observation } from './observe.js';

/** A measured value with its bound. */
export interface Measurement {
  name: string;
  value: number;
  atMost: number;
  unit?: string;
}

export const isWithinBound = ({ value, atMost }: Measurement): boolean => value <= atMost;

export const describe = ({ name, value, atMost, unit = '' }: Measurement): string =>
  `${name}: ${Number(value.toPrecision(3))} ${unit}, at most ${atMost}`.replace(' ,', ',');

/** Returns the measurement for a percentile of the latencies of an honest request, given as a fraction from 0 to 1. */
export const latency = ({ latencies }: Observation, name: string, fraction: number, atMost: number): Measurement => ({
  name: `latency of ${name}, percentile ${100 * fraction}`,
  value: percentile(latencies[name] ?? [], fraction),
  atMost,
  unit: 'ms',
});

/** Returns the measurement for the number of unexpected responses to the honest client. */
export const errorCount = ({ errors }: Observation): Measurement => ({
  name: `errors ${[...new Set(errors)]}`.trim(),
  value: errors.length,
  atMost: 0,
});

export const loopDelay = ({ loopDelayMs }: Observation, atMost: number): Measurement => ({
  name: 'event loop delay',
  value: loopDelayMs,
  atMost,
  unit: 'ms',
});

export const memory = ({ peakRssBytes }: Observation, atMost: number): Measurement => ({
  name: 'peak RSS',
  value: peakRssBytes / 2 ** 20,
  atMost,
  unit: 'MiB',
});

/** Returns the measurement for the number of requests whose status is neither of the two. */
export const otherStatuses = (statuses: readonly number[], one: number, other: number): Measurement => ({
  name: `neither ${one} nor ${other}`,
  value: statuses.filter((status) => status !== one && status !== other).length,
  atMost: 0,
});
