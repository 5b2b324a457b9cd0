import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { collectOutput } from '../support/processes.js';
import { copyProject } from '../support/project-copy.js';
import { freshDataDirectory } from '../support/stores.js';
import { until } from '../support/until.js';

const NAMES = ['db', 'generated', 'handlers', 'scripts', 'openapi.yaml', 'package.json'];
const { directory, replaceIn } = await copyProject(t, NAMES);

/** Runs `npm run dev` in the copy, without npm. */
async function startDev(t: Test) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/dev.ts'], {
    cwd: directory,
    env: {
      PATH,
      HOME,
      LOG_LEVEL: 'warn',
      LOG_FORMAT: 'text',
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: await freshDataDirectory(t),
    },
  });
  t.teardown(() => child.kill('SIGKILL'));
  const output = collectOutput(child);
  return {
    child,
    output,
    /** Sends a GET to the service that was started last. Returns undefined if it does not respond. */
    async get(server: 'API' | 'Operations', path: string) {
      const [, base] = [...output().matchAll(new RegExp(`${server} +(http://[\\d.:]+)`, 'g'))].at(-1) ?? [];
      return fetch(`${base}${path}`).then(
        async (response) => (await response.json()) as { status?: string; info: { title: string } },
        () => undefined,
      );
    },
  };
}

t.test('dev restarts the service after changes, and ends it when its terminal closes', async (t) => {
  const { child, output, get } = await startDev(t);
  const untilTitled = (title: string) => until(async () => (await get('API', '/openapi.json'))?.info.title === title);
  await untilTitled('Social posting service');

  await replaceIn('openapi.yaml', 'title: Social posting service', 'title: Another title');
  await untilTitled('Another title');
  t.match(output(), /^Wrote generated\/openapi\.json\b.*\.$/m);

  const untilAlive = (status: string) => until(async () => (await get('Operations', '/livez'))?.status === status);
  await replaceIn('handlers/http/ops.ts', "{ status: 'ok' }", "{ status: 'changed' }");
  await untilAlive('changed');
  // The watcher must not lose a file that has been replaced before.
  await replaceIn('handlers/http/ops.ts', "{ status: 'changed' }", "{ status: 'changed again' }");
  await untilAlive('changed again');

  await replaceIn('handlers/http/ops.ts', 'export function', 'export export function');
  await until(() => output().includes('The service is still the previous build. Waiting for a change.\n'));
  t.match(output(), '[ERROR]');
  await untilAlive('changed again');

  await replaceIn('handlers/http/ops.ts', 'export export function', 'throw new Error();\nexport function');
  await until(() => output().includes('The service has stopped. Waiting for a change.\n'));
  await replaceIn('handlers/http/ops.ts', 'throw new Error();\n', '');
  await untilAlive('changed again');

  await replaceIn('handlers/friends.ts', 'async listFriends(', 'async listFriendsLater(');
  await until(() => output().includes('listFriends has no handler and returns 500: add it to handlers/friends.ts.\n'));

  const exited = once(child, 'exit');
  child.kill('SIGHUP');
  t.same(await exited, [0, null]);
  t.equal(await get('Operations', '/livez'), undefined);
});

t.test('the service ends when the dev command is killed', async (t) => {
  const { child, get } = await startDev(t);
  await until(async () => (await get('Operations', '/livez')) !== undefined);
  // The output closes when the last process that writes to it has ended: the service.
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  t.equal(await get('Operations', '/livez'), undefined);
});
