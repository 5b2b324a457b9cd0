import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { collectOutput } from '../support/output.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';

const copy = await temporaryDirectory(t);
for (const name of ['db', 'generated', 'handlers', 'scripts', 'openapi.yaml', 'package.json'])
  await cp(name, join(copy, name), { recursive: true });
await symlink(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'));

/** Runs `npm run dev` in the copy, without npm. */
async function startDev(t: Test) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/dev.ts'], {
    cwd: copy,
    env: { PATH, HOME, LOG_LEVEL: 'warn', PORT: '0', OPS_PORT: '0', DATA_DIR: await freshDataDirectory(t) },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const output = collectOutput(child);
  return {
    child,
    output,
    /** Sends a GET to the service that was started last. Returns undefined if it does not respond. */
    async get(server: 'API' | 'Operations', path: string): Promise<unknown> {
      const [, base] = [...output().matchAll(new RegExp(`${server} +(http://[\\d.:]+)`, 'g'))].at(-1) ?? [];
      return fetch(`${base}${path}`).then(
        (response) => response.json(),
        () => undefined,
      );
    },
  };
}

/** Replaces text in a file of the copy. */
async function replaceIn(file: string, from: string, to: string): Promise<void> {
  const path = join(copy, file);
  const before = await readFile(path, 'utf8');
  if (!before.includes(from)) throw new Error(`${file} does not contain ${from}`);
  await writeFile(path, before.replace(from, to));
}

interface Document {
  info: { title: string };
}

t.test('dev restarts the service after changes, and ends it when its terminal closes', async (t) => {
  const { child, output, get } = await startDev(t);
  await until(async () => (await get('API', '/openapi.json')) !== undefined);

  await replaceIn('openapi.yaml', 'title: Social posting service', 'title: Another title');
  await until(
    async () => ((await get('API', '/openapi.json')) as Document | undefined)?.info.title === 'Another title',
  );
  t.match(output(), /^Wrote generated\/openapi\.json\b.*\.$/m);

  await replaceIn('handlers/http/ops.ts', "{ status: 'ok' }", "{ status: 'changed' }");
  const isChanged = async () => JSON.stringify(await get('Operations', '/livez')) === '{"status":"changed"}';
  await until(isChanged);

  await replaceIn('handlers/http/ops.ts', 'export function', 'export export function');
  await until(() => output().includes('[ERROR]'));
  // The service keeps running while the code does not build.
  await until(isChanged);

  const exited = once(child, 'exit');
  child.kill('SIGHUP');
  t.same(await exited, [0, null]);
  t.equal(await get('Operations', '/livez'), undefined);
  await replaceIn('handlers/http/ops.ts', 'export export function', 'export function');
});

t.test('the service ends when the dev command is killed', async (t) => {
  const { child, get } = await startDev(t);
  await until(async () => (await get('Operations', '/livez')) !== undefined);
  // Its output closes when the last process that writes to it ends: the service.
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  t.equal(await get('Operations', '/livez'), undefined);
});
