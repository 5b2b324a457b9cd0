import type { Spread } from './statistics.js';

export type StackName = 'embedded' | 'services';

/** Bounds for the median ratio of a workload to its baseline. */
export interface Goal {
  min?: number;
  max?: number;
  /** A minimum that is desired but not required. */
  stretch?: number;
  /** The largest allowed ratio of the p99 latency to the p50 latency. */
  maxTailRatio?: number;
}

type GoalsByInFlight = Readonly<Record<number, Goal>>;

const IN_FLIGHT_LEVELS = [1, 32, 128];

/** Returns goals with these minimum ratios at 1, 32 and 128 requests in flight. */
const minimums = (...ratios: [number, number, number]): GoalsByInFlight =>
  Object.fromEntries(ratios.map((ratio, index) => [IN_FLIGHT_LEVELS[index], { min: ratio }]));

const SERVICES: Readonly<Record<string, GoalsByInFlight>> = {
  feed: { ...minimums(0.03, 0.2, 0.4), 128: { min: 0.4, stretch: 0.6 } },
  post: minimums(0.03, 0.2, 0.35),
  like: minimums(0.02, 0.15, 0.25),
  me: minimums(0.6, 0.8, 0.8),
  login: minimums(0.85, 0.9, 0.9),
  'image-up': minimums(0.6, 0.6, 0.6),
  'image-down': minimums(0.6, 0.6, 0.6),
};

const EMBEDDED: Readonly<Record<string, GoalsByInFlight>> = {
  feed: { 32: { min: 0.25, maxTailRatio: 4 }, 128: { min: 0.25, maxTailRatio: 4 } },
};

/** Goals for more data and for other load, on both stacks. */
const COMMON: Readonly<Record<string, Goal>> = {
  flood: { min: 0.5 },
  'feed-tenfold': { min: 0.9 },
  'feed-closed': { min: 0.5 },
  'popular-feed': { min: 0.5 },
  'popular-post': { min: 0.5 },
  'popular-person': { min: 0.5 },
  offset: { min: 1 / 3 },
  'deep-offset': { min: 1 / 15 },
  memory: { max: 1.1 },
};

/** Returns the goal of a workload, or undefined if there is none. */
export function goalOf(stack: StackName, workload: string, inFlight: number): Goal | undefined {
  return COMMON[workload] ?? (stack === 'services' ? SERVICES : EMBEDDED)[workload]?.[inFlight];
}

/** Returns whether a goal is met, or undefined if there is none. */
export function isGoalMet(
  goal: Goal | undefined,
  ratio: Spread,
  latency: { p50: number; p99: number },
): boolean | undefined {
  if (!goal) return undefined;
  const {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
    maxTailRatio = Number.POSITIVE_INFINITY,
  } = goal;
  return ratio.median >= min && ratio.median <= max && latency.p99 <= maxTailRatio * latency.p50;
}

const formatNumber = (value: number) => String(Number(value.toPrecision(2)));

/** Formats a goal for the results table. */
export function formatGoal(goal: Goal | undefined): string {
  if (!goal) return '–';
  const { min, max, stretch, maxTailRatio } = goal;
  return [
    min !== undefined && `≥ ${formatNumber(min)}`,
    max !== undefined && `≤ ${formatNumber(max)}`,
    stretch !== undefined && `(stretch: ${formatNumber(stretch)})`,
    maxTailRatio !== undefined && `and p99 ≤ ${maxTailRatio} × p50`,
  ]
    .filter(Boolean)
    .join(' ');
}
