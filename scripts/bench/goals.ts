import type { Spread } from './statistics.js';

export type StackName = 'embedded' | 'services';

/** What the median of a ratio should reach, or stay under. */
export interface Goal {
  least?: number;
  most?: number;
  stretch?: number;
  /** How many times the median of the latencies their 99th percentile may be. */
  tail?: number;
}

type ByInFlight = Readonly<Record<number, Goal>>;

const LEVELS = [1, 32, 128];

/** At least so much at each of them. */
const least = (...figures: [number, number, number]): ByInFlight =>
  Object.fromEntries(figures.map((figure, index) => [LEVELS[index], { least: figure }]));

/** On real PostgreSQL and Neo4j. */
const SERVICES: Readonly<Record<string, ByInFlight>> = {
  feed: { ...least(0.03, 0.2, 0.4), 128: { least: 0.4, stretch: 0.6 } },
  post: least(0.03, 0.2, 0.35),
  like: least(0.02, 0.15, 0.25),
  me: least(0.6, 0.8, 0.8),
  login: least(0.85, 0.9, 0.9),
  'image-up': least(0.6, 0.6, 0.6),
  'image-down': least(0.6, 0.6, 0.6),
};

const EMBEDDED: Readonly<Record<string, ByInFlight>> = {
  feed: { 32: { least: 0.25, tail: 4 }, 128: { least: 0.25, tail: 4 } },
};

/** What more data and other load may cost, on either. */
const GROWTH: Readonly<Record<string, Goal>> = {
  flood: { least: 0.5 },
  'feed-tenfold': { least: 0.9 },
  'feed-closed': { least: 0.5 },
  'popular-feed': { least: 0.5 },
  'popular-post': { least: 0.5 },
  'popular-person': { least: 0.5 },
  offset: { least: 1 / 3 },
  'deep-offset': { least: 1 / 15 },
  memory: { most: 1.1 },
};

/** Undefined where nothing is asked. */
export function goalOf(stack: StackName, work: string, inFlight: number): Goal | undefined {
  return GROWTH[work] ?? (stack === 'services' ? SERVICES : EMBEDDED)[work]?.[inFlight];
}

/** Whether a goal is reached; undefined when there is none. */
export function holds(
  goal: Goal | undefined,
  ratio: Spread,
  latency: { p50: number; p99: number },
): boolean | undefined {
  if (!goal) return undefined;
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, tail = Number.POSITIVE_INFINITY } = goal;
  return ratio.median >= least && ratio.median <= most && latency.p99 <= tail * latency.p50;
}

const figure = (value: number) => String(Number(value.toPrecision(2)));

/** For people. */
export function tellGoal(goal: Goal | undefined): string {
  if (!goal) return '–';
  const { least, most, stretch, tail } = goal;
  return [
    least !== undefined && `≥ ${figure(least)}`,
    most !== undefined && `≤ ${figure(most)}`,
    stretch !== undefined && `(stretch: ${figure(stretch)})`,
    tail !== undefined && `and p99 ≤ ${tail} × p50`,
  ]
    .filter(Boolean)
    .join(' ');
}
