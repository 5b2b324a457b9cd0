import { createRandom, type Random } from '../support/random.js';
import type { Cut, KeepProbabilities } from './disk.js';
import type { Recording } from './record.js';
import type { DiskOperation, Span } from './trace.js';

/** Relative frequencies of intervals; others have 3. */
const WEIGHTS: Record<string, number> = {
  'first requests': 2,
  requests: 4,
  checkpoint: 5,
  'requests after a checkpoint': 2,
  stop: 2,
  start: 2,
};

/** The rename that completes the creation of the cluster. Migrations, keys and markers follow. */
const CLUSTER_CREATED = /\/postgres$/;

const CONTENT_PROBABILITIES: [content: number, unit: KeepProbabilities['contentUnit']][] = [
  [0, 'file'],
  [0, 'file'],
  [0.5, 'file'],
  [0.5, 'file'],
  [1, 'file'],
  [0.1, 'change'],
  [0.5, 'change'],
  [0.9, 'change'],
  [0.5, 'sector'],
  [0.95, 'sector'],
];
const ENTRY_PROBABILITIES = [0, 0, 0.5, 0.9, 1];

/**
 * Returns the cut with this number, reproducible by recording, seed and number.
 *
 * @param ignoredPaths matches the paths of files and directories whose `fsync` calls are ignored
 */
export function cutOf(
  recording: Recording,
  seed: string,
  ignoredPaths: RegExp | undefined,
  number: number,
): Cut & { title: string } {
  const random = createRandom(seed, number);
  const interval = pickInterval(recording, random);
  const { at, where } = pickTime(recording, interval, random);
  const [content, contentUnit] = random.pick(CONTENT_PROBABILITIES);
  const keep = { entries: random.pick(ENTRY_PROBABILITIES), content, contentUnit };
  return {
    at,
    keep,
    chance: random.chance,
    respectsSyncs: ({ path, isDirectory }) => !ignoredPaths?.test(isDirectory ? `${path}/` : path),
    title: `${interval.name}, ${where}, keeps ${keep.entries} of entries, ${content} of content (by ${contentUnit})`,
  };
}

/** A part of the recording: a phase, or a part of one. */
interface Interval {
  name: string;
  from: number;
  to: number;
}

/** Returns the phases in order. The first one is split at the rename that completes the cluster. */
function intervalsOf({ phases, operations }: Recording): Interval[] {
  const created = operations.find((operation) => operation.kind === 'rename' && CLUSTER_CREATED.test(operation.to));
  return phases.flatMap(({ name, at }, index) => {
    const to = phases[index + 1]?.at ?? (operations.at(-1)?.end ?? at) + 1;
    if (!created || created.end < at || created.end > to) return { name, from: at, to };
    return [
      { name, from: at, to: created.start },
      { name: 'migration', from: created.start, to },
    ];
  });
}

function pickInterval(recording: Recording, random: Random): Interval {
  const weighted = intervalsOf(recording).flatMap((interval) =>
    Array.from({ length: WEIGHTS[interval.name] ?? 3 }, () => interval),
  );
  return random.pick(weighted);
}

/** Picks a time right after a response, or after or during an operation, preferably of a rare kind. */
function pickTime(
  { operations, requests }: Recording,
  { from, to }: Interval,
  random: Random,
): { at: number; where: string } {
  const within = ({ start }: Span) => start >= from && start < to;
  const completed = requests.filter(within);
  const performed = operations.filter(within);
  const rare = performed.filter(({ kind }) => !['open', 'write'].includes(kind));
  const choice = random.next();
  if (completed.length > 0 && choice < 0.4) {
    const { request, end } = random.pick(completed);
    return { at: end, where: `right after the response to ${request.replace(/\?.*/, '')}` };
  }
  const operation = random.pick(rare.length > 0 && choice < 0.7 ? rare : performed);
  const after = random.chance(0.5);
  return { at: after ? operation.end : operation.start, where: `${after ? 'after' : 'during'} ${describe(operation)}` };
}

const describe = (operation: DiskOperation): string => {
  if (operation.kind === 'rename') return `rename to ${operation.to.split('/').at(-1)}`;
  return `operation "${operation.kind}"${'path' in operation ? ` of ${operation.path.split('/').at(-1)}` : ''}`;
};
