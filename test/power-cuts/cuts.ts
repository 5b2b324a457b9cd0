import { type Random, randomFor } from '../fuzz/random.js';
import type { Cut, Fate, Inode } from './disk.js';
import type { Recording } from './record.js';
import type { Operation } from './trace.js';

/** Groups of files whose calls of `fsync` can be ignored, to show that each of them is needed. */
export const FSYNC_GROUPS = ['all', 'directories', 'images', 'wal', 'tables', 'keys'] as const;
export type FsyncGroup = (typeof FSYNC_GROUPS)[number];

function groupOf({ isDirectory, path }: Inode): FsyncGroup {
  if (isDirectory) return 'directories';
  if (/\/(images|uploads)\//.test(path)) return 'images';
  if (path.includes('/pg_wal/')) return 'wal';
  return path.includes('/token-keys') ? 'keys' : 'tables';
}

const KEPT: Fate = { entries: 'kept', content: 'kept' };

export interface Sampled extends Cut {
  /** What is cut, for people. */
  title: string;
}

/** How often a phase is cut. A cut in the first start costs most: a cluster may have to be made again. */
const WEIGHTS: Record<string, number> = {
  'first start': 3,
  'first requests': 2,
  requests: 4,
  checkpoint: 5,
  'requests after a checkpoint': 2,
  'WAL segment': 3,
  stop: 2,
  start: 2,
  'start after a kill': 3,
};

/** What happens between the creation of the cluster and the end of the first start: migrations, keys, marks. */
const CLUSTER_MADE = /\/postgres$/;

const CONTENT_FATES: Fate['content'][] = [
  'lost',
  'lost',
  'kept',
  { share: 0.5, each: 'file' },
  { share: 0.5, each: 'file' },
  { share: 0.1, each: 'change' },
  { share: 0.5, each: 'change' },
  { share: 0.9, each: 'change' },
  { share: 0.5, each: 'sector' },
  { share: 0.95, each: 'sector' },
];
const ENTRY_FATES: Fate['entries'][] = ['lost', 'lost', 'kept', { share: 0.5 }, { share: 0.9 }];

/** `kill` loses nothing, as `kill -9` does: a control that has to hold whatever is forced to the disk. */
export const MODELS = ['strict', 'journal', 'kill'] as const;
export type Model = (typeof MODELS)[number];

export interface CutOptions {
  seed: string;
  model: Model;
  ignored: readonly FsyncGroup[];
}

/** The cut of this number. The same recording, seed and number give the same. */
export function cutOf(recording: Recording, { seed, model, ignored }: CutOptions, number: number): Sampled {
  const random = randomFor(seed, number);
  const phase = pickPhase(recording, random);
  const { at, where } = pickMoment(recording, phase, random);
  const sampled = { entries: random.pick(ENTRY_FATES), content: random.pick(CONTENT_FATES) };
  const fate = model === 'kill' ? KEPT : sampled;
  const ignores = (group: FsyncGroup) => ignored.includes('all') || ignored.includes(group);
  return {
    at,
    model: model === 'kill' ? 'strict' : model,
    fate,
    chance: random.chance,
    counts: (inode) => !ignores(groupOf(inode)),
    title: `${phase.name}, ${where}, entries ${nameOf(fate.entries)}, content ${nameOf(fate.content)}`,
  };
}

const nameOf = (fate: Fate['entries'] | Fate['content']) =>
  typeof fate === 'string' ? fate : `kept by ${fate.share}${'each' in fate ? ` of each ${fate.each}` : ''}`;

interface Stretch {
  name: string;
  from: number;
  to: number;
}

/** Phases in order, the first start in two: making the cluster, and what follows. */
function stretches({ phases, operations }: Recording): Stretch[] {
  const made = operations.find((operation) => operation.kind === 'rename' && CLUSTER_MADE.test(operation.to));
  return phases.flatMap(({ name, at }, index) => {
    const to = phases[index + 1]?.at ?? (operations.at(-1)?.end ?? at) + 1;
    if (!made || made.end < at || made.end > to) return { name, from: at, to };
    return [
      { name, from: at, to: made.start },
      { name: 'migration', from: made.start, to },
    ];
  });
}

function pickPhase(recording: Recording, random: Random): Stretch {
  const all = stretches(recording).flatMap((stretch) =>
    Array.from({ length: WEIGHTS[stretch.name] ?? 3 }, () => stretch),
  );
  return random.pick(all);
}

/** At a response, at an operation that is rare and tells, or at any; after it, or while it runs. */
function pickMoment(
  { operations, requests }: Recording,
  { from, to }: Stretch,
  random: Random,
): { at: number; where: string } {
  const within = ({ start }: { start: number }) => start >= from && start < to;
  const answered = requests.filter(within);
  const performed = operations.filter(within);
  const rare = performed.filter(({ kind }) => !['open', 'write'].includes(kind));
  const choice = random.next();
  if (answered.length > 0 && choice < 0.4) {
    const { what, end } = random.pick(answered);
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
