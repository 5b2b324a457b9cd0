import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { type Cut, crash, type Fate, replay, SECTOR_BYTES } from '../power-cuts/disk.js';
import { differences } from '../power-cuts/disk-contents.js';
import { expectedAt, type Fact } from '../power-cuts/facts.js';
import { type Operation, readOperations } from '../power-cuts/trace.js';
import { randomFor } from '../support/random.js';
import { temporaryDirectory } from '../support/stores.js';

const ROOT = '/root';
const END = 1_000;

/** Returns consecutive operations of one nanosecond each. */
const trace = (...operations: Record<string, unknown>[]) =>
  operations.map((operation, index) => ({ start: 2 * index, end: 2 * index + 1, ...operation })) as Operation[];

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

const FATES: Fate[] = (['lost', 'kept', { share: 0.5 }] as const).flatMap((entries) =>
  (['lost', 'kept', ...(['file', 'change', 'sector'] as const).map((each) => ({ share: 0.5, each }))] as const).map(
    (content) => ({ entries, content }),
  ),
);

/** Returns the distinct states after 400 power cuts. A state is a text: each name with the first byte of each sector. */
function statesOf(operations: Operation[], overrides: Partial<Cut> = {}): Set<string> {
  const history = replay(operations, ROOT);
  const states = new Set<string>();
  for (let number = 0; number < 400; number += 1) {
    const { chance, pick } = randomFor('disk', number);
    const cut: Cut = { at: END, fate: pick(FATES), chance, respectsSyncs: () => true, ...overrides };
    const files = [...crash(history, cut).contents].map(([name, content]) => {
      const bytes = content as Buffer;
      const sectors = Array.from(
        { length: Math.ceil(bytes.length / SECTOR_BYTES) },
        (_, at) => bytes[at * SECTOR_BYTES],
      );
      return `${name}:${sectors.join('')}`;
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

t.test('an fsync in progress guarantees nothing', async (t) => {
  const operations = trace(create('a'), openRoot, sync('root'), write('a', 1), sync('a'));
  expectStates(t, statesOf(operations, { at: 8 }), ['a:', 'a:1']);
  expectStates(t, statesOf(operations, { at: 9 }), ['a:1']);
  expectStates(t, statesOf(operations, { respectsSyncs: ({ isDirectory }) => isDirectory }), ['a:', 'a:1']);
});

t.test('an fsync of the directory makes a name durable, an fsync of the file does not', async (t) => {
  const operations = trace(create('a'), write('a', 1), sync('a'));
  expectStates(t, statesOf(operations), ['', 'a:1']);
  expectStates(t, statesOf(trace(create('a'), write('a', 1), sync('a'), openRoot, sync('root'))), ['a:1']);
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

t.test('the allowed values of a fact follow from the last response and the requests without one', async (t) => {
  const fact = (value: boolean): Fact => ({ kind: 'session', token: 'x', value });
  const requests = [
    { what: 'login', start: 1, end: 2, facts: [fact(true)] },
    { what: 'logout', start: 3, end: 5, facts: [fact(false)] },
  ];
  const allowedAt = (at: number) => expectedAt(requests, at).map(({ allowed }) => allowed);
  t.same(allowedAt(1), []);
  t.same(allowedAt(2), [[true]]);
  t.same(allowedAt(4), [[true, false]]);
  t.same(allowedAt(5), [[false]]);
});

/** Every file operation of the service and PGlite, on two threads. */
const PROGRAM = `
import fs from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { isMainThread, Worker } from 'node:worker_threads';
if (isMainThread) {
  process.chdir(process.env.RECORD_BELOW);
  await mkdir('one/two', { recursive: true });
  await writeFile('one/chunks', (async function* () { yield Buffer.from('ab'); yield Buffer.from('cd'); })(), { flag: 'wx' });
  await writeFile('one/text', 'text');
  await rename('one/text', 'one/two/renamed');
  const handle = await open('one/chunks', 'r+');
  await handle.write(Buffer.from('xyz'), 1, 2, 1);
  await handle.truncate(3);
  await handle.sync();
  await handle.close();
  await writeFile('one/removed', '');
  await rm('one/removed');
  await mkdir('tree/of/files', { recursive: true });
  await writeFile('tree/of/files/a', 'a');
  await rm('tree', { recursive: true, force: true });
  await rm('nothing', { force: true });
  await new Promise((resolve) => new Worker(new URL(import.meta.url)).once('exit', resolve));
} else {
  fs.mkdirSync('three');
  fs.writeFileSync('three/empty', '', { mode: 0o600 });
  fs.writeFileSync('three/gone', 'gone');
  fs.unlinkSync('three/gone');
  const file = fs.openSync('three/data', fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_TRUNC);
  fs.writeSync(file, Buffer.from('01234567'), 2, 5, 3);
  fs.ftruncateSync(file, 6);
  fs.fsyncSync(file);
  fs.closeSync(file);
  fs.truncateSync('three/data', 5);
  fs.renameSync('three/empty', 'one/two/renamed');
}
`;

t.test('replaying a recording of every file operation reproduces the files', async (t) => {
  const directory = await temporaryDirectory(t);
  const [root, to, program] = [join(directory, 'root'), join(directory, 'trace'), join(directory, 'program.mjs')];
  await mkdir(root);
  await mkdir(to);
  await writeFile(program, PROGRAM);
  const recorder = pathToFileURL(resolve('.build/test/power-cuts/recorder.js'));
  const env = { PATH: process.env.PATH, NODE_OPTIONS: `--import ${recorder}`, RECORD_BELOW: root, RECORD_TO: to };
  await promisify(execFile)(process.execPath, [program], { env });

  const operations = readOperations(to);
  t.same(await differences(replay(operations, root), root), []);
  t.equal(operations.filter(({ kind }) => kind === 'sync').length, 2);
  const last = operations.findLastIndex(({ kind }) => kind === 'write');
  t.same(
    await differences(replay(operations.toSpliced(last, 1), root), root),
    ['three/data'],
    'a missing operation is detected',
  );
});
