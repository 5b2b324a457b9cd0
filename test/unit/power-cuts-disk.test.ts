import t, { type Test } from 'tap';
import { type Cut, crash, type KeepProbabilities, replay, SECTOR_BYTES } from '../power-cuts/disk.js';
import { expectedAt, type Fact } from '../power-cuts/facts.js';
import type { DiskOperation } from '../power-cuts/trace.js';
import { createRandom } from '../support/random.js';

const ROOT = '/root';
const END = 1_000;

/** Returns consecutive operations of one nanosecond each. */
const trace = (...operations: Record<string, unknown>[]) =>
  operations.map((operation, index) => ({ start: 2 * index, end: 2 * index + 1, ...operation })) as DiskOperation[];

const create = (name: string) => ({ kind: 'open', file: name, path: `${ROOT}/${name}`, create: true, truncate: false });
const openRoot = { kind: 'open', file: 'root', path: ROOT, create: false, truncate: false };
const write = (file: string, byte: number, length = SECTOR_BYTES, position = 0) => ({
  kind: 'write',
  file,
  position,
  data: Buffer.alloc(length, byte),
});
const sync = (file: string) => ({ kind: 'sync', file });
const rename = (from: string, to: string) => ({ kind: 'rename', from: `${ROOT}/${from}`, to: `${ROOT}/${to}` });

const KEEP_PROBABILITIES: KeepProbabilities[] = [0, 0.5, 1].flatMap((entries) =>
  [0, 0.5, 1].flatMap((content) =>
    (['file', 'change', 'sector'] as const).map((contentUnit) => ({ entries, content, contentUnit })),
  ),
);

/** Returns the distinct states after 400 power cuts. A state is each name with the first byte of each sector. */
function statesOf(operations: DiskOperation[], overrides: Partial<Cut> = {}): Set<string> {
  const history = replay(operations, ROOT);
  const states = new Set<string>();
  for (let number = 0; number < 400; number += 1) {
    const { chance, pick } = createRandom('disk', number);
    const cut: Cut = { at: END, keep: pick(KEEP_PROBABILITIES), chance, respectsSyncs: () => true, ...overrides };
    const files = [...crash(history, cut).contents].map(([name, content]) => {
      const firstBytes = [...(content as Buffer)].filter((_, at) => at % SECTOR_BYTES === 0);
      return `${name}:${firstBytes.join('')}`;
    });
    states.add(files.sort().join(' '));
  }
  return states;
}

const expectStates = (t: Test, found: Set<string>, expected: string[]) => t.same([...found].sort(), expected.sort());

t.test('synced bytes are kept, later ones are kept or lost', async (t) => {
  const base = [create('a'), openRoot, sync('root'), write('a', 1)];
  expectStates(t, statesOf(trace(...base)), ['a:', 'a:1']);
  expectStates(t, statesOf(trace(...base, sync('a'))), ['a:1']);
  expectStates(t, statesOf(trace(...base, sync('a'), write('a', 2))), ['a:1', 'a:2']);
});

t.test('sectors are kept or lost independently, and contain only earlier contents', async (t) => {
  const base = [create('a'), openRoot, sync('root'), write('a', 1, 2 * SECTOR_BYTES), sync('a')];
  expectStates(t, statesOf(trace(...base, write('a', 2, 2 * SECTOR_BYTES))), ['a:11', 'a:12', 'a:21', 'a:22']);
  expectStates(t, statesOf(trace(...base, write('a', 2), write('a', 3))), ['a:11', 'a:21', 'a:31']);
  expectStates(t, statesOf(trace(...base, write('a', 2, SECTOR_BYTES, 2 * SECTOR_BYTES))), ['a:11', 'a:112']);
  expectStates(t, statesOf(trace(...base, { kind: 'truncate', file: 'a', length: SECTOR_BYTES })), ['a:1', 'a:11']);
});

t.test('an fsync that is in progress, or that the disk ignores, guarantees nothing', async (t) => {
  const operations = trace(create('a'), openRoot, sync('root'), write('a', 1), sync('a'));
  expectStates(t, statesOf(operations, { at: 8 }), ['a:', 'a:1']);
  expectStates(t, statesOf(operations, { at: 9 }), ['a:1']);
  expectStates(t, statesOf(operations, { respectsSyncs: ({ isDirectory }) => isDirectory }), ['a:', 'a:1']);
});

t.test('an fsync of the directory makes a name durable, an fsync of the file does not', async (t) => {
  const base = [create('a'), write('a', 1), sync('a')];
  expectStates(t, statesOf(trace(...base)), ['', 'a:1']);
  expectStates(t, statesOf(trace(...base, openRoot, sync('root'))), ['a:1']);
});

t.test('a rename is atomic', async (t) => {
  const base = [create('a'), write('a', 1), sync('a'), create('b'), write('b', 2), sync('b'), openRoot, sync('root')];
  expectStates(t, statesOf(trace(...base, rename('a', 'b'))), ['a:1 b:2', 'b:1']);
  expectStates(t, statesOf(trace(...base, rename('a', 'b'), sync('root'))), ['b:1']);
});

t.test('changes of different names may be reordered', async (t) => {
  const operations = trace(openRoot, create('a'), create('b'));
  expectStates(t, statesOf(operations), ['', 'a:', 'b:', 'a: b:']);
});

t.test('changes of one name keep their order', async (t) => {
  const first = [openRoot, create('x'), write('x', 1), sync('x'), rename('x', 'y')];
  const second = [{ ...create('x'), file: 'second' }, write('second', 2), sync('second')];
  expectStates(t, statesOf(trace(...first, ...second)), ['', 'x:1', 'y:1', 'x:2 y:1']);
});

t.test('the allowed values of a fact are those of the last response and of requests in progress', async (t) => {
  const fact = (value: boolean): Fact => ({ kind: 'session', token: 'x', value });
  const requests = [
    { request: 'login', start: 1, end: 2, facts: [fact(true)] },
    { request: 'logout', start: 3, end: 5, facts: [fact(false)] },
  ];
  const allowedAt = (at: number) => expectedAt(requests, at).map(({ allowed }) => allowed);
  t.same(allowedAt(1), []);
  t.same(allowedAt(2), [[true]]);
  t.same(allowedAt(4), [[true, false]]);
  t.same(allowedAt(5), [[false]]);
});
