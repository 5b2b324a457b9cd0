import { type Random, randomFor } from '../support/random.js';
import type { Cut, Fate } from './disk.js';
import type { Recording } from './record.js';
import type { Operation } from './trace.js';

interface SampledCut extends Cut {
  title: string;
}

/** Relative frequencies of phases, by default 3. Not more for `first start`: its checks may create the cluster again. */
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

const CONTENT_FATES: Fate['content'][] = [
  'lost',
  'lost',
  'kept',
  { probability: 0.5, each: 'file' },
  { probability: 0.5, each: 'file' },
  { probability: 0.1, each: 'change' },
  { probability: 0.5, each: 'change' },
  { probability: 0.9, each: 'change' },
  { probability: 0.5, each: 'sector' },
  { probability: 0.95, each: 'sector' },
];
const ENTRY_FATES: Fate['entries'][] = ['lost', 'lost', 'kept', { probability: 0.5 }, { probability: 0.9 }];

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
): SampledCut {
  const random = randomFor(seed, number);
  const phase = pickPhase(recording, random);
  const { at, where } = pickTime(recording, phase, random);
  const fate = { entries: random.pick(ENTRY_FATES), content: random.pick(CONTENT_FATES) };
  return {
    at,
    fate,
    chance: random.chance,
    respectsSyncs: ({ path, isDirectory }) => !ignoredPaths?.test(isDirectory ? `${path}/` : path),
    title: `${phase.name}, ${where}, entries ${nameOf(fate.entries)}, content ${nameOf(fate.content)}`,
  };
}

const nameOf = (fate: Fate['entries'] | Fate['content']) =>
  typeof fate === 'string'
    ? fate
    : `kept with probability ${fate.probability}${'each' in fate ? ` for each ${fate.each}` : ''}`;

interface Interval {
  name: string;
  from: number;
  to: number;
}

/** Returns the phases in order, with the first one split at the rename that completes the cluster. */
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

function pickPhase(recording: Recording, random: Random): Interval {
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
  const within = ({ start }: { start: number }) => start >= from && start < to;
  const completed = requests.filter(within);
  const performed = operations.filter(within);
  const rare = performed.filter(({ kind }) => !['open', 'write'].includes(kind));
  const choice = random.next();
  if (completed.length > 0 && choice < 0.4) {
    const { what, end } = random.pick(completed);
    return { at: end, where: `right after the response to ${what.replace(/\?.*/, '')}` };
  }
  const operation = random.pick(rare.length > 0 && choice < 0.7 ? rare : performed);
  const after = random.chance(0.5);
  return { at: after ? operation.end : operation.start, where: `${after ? 'after' : 'during'} ${describe(operation)}` };
}

const describe = (operation: Operation): string => {
  if (operation.kind === 'rename') return `rename to ${operation.to.split('/').at(-1)}`;
  return `operation "${operation.kind}"${'path' in operation ? ` of ${operation.path.split('/').at(-1)}` : ''}`;
};
