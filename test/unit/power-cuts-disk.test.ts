import t, { type Test } from 'tap';
import { crash, replay, SECTOR_BYTES } from '../power-cuts/disk.js';
import type { DiskOperation } from '../power-cuts/trace.js';
import { createRandom } from '../support/random.js';

const ROOT = '/root';

const create = (name: string) => ({ kind: 'open', file: name, path: `${ROOT}/${name}`, create: true, truncate: false });
const openRoot = { kind: 'open', file: 'root', path: ROOT, create: false, truncate: false };
const write = (file: string, byte: number, sectors = 1, position = 0) => ({
  kind: 'write',
  file,
  position,
  data: Buffer.alloc(sectors * SECTOR_BYTES, byte),
});
const sync = (file: string) => ({ kind: 'sync', file });
const rename = (from: string, to: string) => ({ kind: 'rename', from: `${ROOT}/${from}`, to: `${ROOT}/${to}` });

/** Expects exactly these states after many power cuts. A state is each name with the first byte of each sector. */
function expectStates(t: Test, operations: object[], expected: string[], at = 1_000): void {
  const trace = operations.map((operation, index) => ({ start: 2 * index, end: 2 * index + 1, ...operation }));
  const history = replay(trace as DiskOperation[], ROOT);
  const states = new Set<string>();
  for (let number = 0; number < 400; number += 1) {
    const { chance, pick } = createRandom('disk', number);
    const keep = {
      entries: pick([0, 0.5, 1]),
      content: pick([0, 0.5, 1]),
      contentUnit: pick(['file', 'sector'] as const),
    };
    const files = [...crash(history, { at, keep, chance, respectsSyncs: () => true })].map(([name, content]) => {
      const firstBytes = [...(content as Buffer)].filter((_, at) => at % SECTOR_BYTES === 0);
      return `${name}:${firstBytes.join('')}`;
    });
    states.add(files.sort().join(' '));
  }
  t.same([...states].sort(), expected.sort());
}

t.test('synced bytes are kept, and each later sector is kept or lost', async (t) => {
  const base = [create('a'), openRoot, sync('root'), write('a', 1, 2)];
  expectStates(t, [...base, sync('a')], ['a:11']);
  expectStates(t, [...base, sync('a'), write('a', 2, 2)], ['a:11', 'a:12', 'a:21', 'a:22']);
  expectStates(t, [...base, sync('a'), write('a', 2), write('a', 3)], ['a:11', 'a:21', 'a:31']);
  expectStates(t, [...base, sync('a'), write('a', 2, 1, 2 * SECTOR_BYTES)], ['a:11', 'a:112']);
  expectStates(t, [...base, sync('a'), { kind: 'truncate', file: 'a', length: SECTOR_BYTES }], ['a:1', 'a:11']);
  expectStates(t, [...base, sync('a'), write('a', 2, 2), sync('a')], ['a:11', 'a:12', 'a:21', 'a:22'], 12);
});

t.test('an fsync of the directory makes names durable; until then they may be lost and reordered', async (t) => {
  const base = [openRoot, create('a'), write('a', 1), sync('a')];
  expectStates(t, base, ['', 'a:1']);
  expectStates(t, [...base, sync('root')], ['a:1']);
  expectStates(t, [openRoot, create('a'), create('b')], ['', 'a:', 'b:', 'a: b:']);
  const second = [{ ...create('x'), file: 'second' }, write('second', 2), sync('second')];
  const first = [openRoot, create('x'), write('x', 1), sync('x'), rename('x', 'y')];
  expectStates(t, [...first, ...second], ['', 'x:1', 'y:1', 'x:2 y:1']);
});

t.test('a rename is atomic', async (t) => {
  const base = [create('a'), write('a', 1), sync('a'), create('b'), write('b', 2), sync('b'), openRoot, sync('root')];
  expectStates(t, [...base, rename('a', 'b')], ['a:1 b:2', 'b:1']);
  expectStates(t, [...base, rename('a', 'b'), sync('root')], ['b:1']);
});
