import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer, json, text } from 'node:stream/consumers';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { StoreUnavailableError } from '../db/support/errors.js';
import { buildControlServer, controlSocketPath, listenOnSocket } from '../handlers/control.js';
import { startTestService } from './support/service.js';
import { temporaryDirectory } from './support/stores.js';
import { until } from './support/until.js';

const service = await startTestService(t);
const { db } = service.stores;

function endlessBackup() {
  let isRunning = false;
  async function* backup() {
    isRunning = true;
    try {
      for (;;) yield Buffer.alloc(64 * 1024);
    } finally {
      isRunning = false;
    }
  }
  return { backup, isRunning: () => isRunning };
}

/** Starts a control server on a socket, and returns a function that sends it a request. */
async function startServer(t: Test, backup = endlessBackup().backup, options: { idleTimeoutMs?: number } = {}) {
  const directory = join(await temporaryDirectory(t), 'control');
  const server = buildControlServer({ backup, admin: service.context }, service.context.log, options);
  await listenOnSocket(server, directory);
  t.teardown(() => server.close());

  async function send(path: string, body: string, headers = {}, agent?: Agent): Promise<IncomingMessage> {
    const socketPath = controlSocketPath(directory);
    const type = { 'Content-Type': 'application/json', ...headers };
    const client = request({ socketPath, path, method: 'POST', headers: type, ...(agent && { agent }) }).end(body);
    return (await once(client, 'response'))[0];
  }
  return { directory, server, send };
}

t.test('only the owner can enter the directory of the socket', async (t) => {
  const { directory } = await startServer(t);
  const modes = [await stat(directory), await stat(controlSocketPath(directory))].map(({ mode }) => mode & 0o777);
  t.same(modes, [0o700, 0o600]);
});

t.test('a socket whose path is too long is not created, not even under a truncated path', async (t) => {
  const parent = await temporaryDirectory(t);
  const server = buildControlServer({}, service.context.log);
  await listenOnSocket(server, join(parent, 'x'.repeat(110)));
  t.same(await readdir(parent), []);
  t.match(service.logged(), /control socket unavailable/);
  await server.close();
});

t.test('refuses bodies that do not match the schema with one sentence, and changes nothing', async (t) => {
  const { send } = await startServer(t);
  const { email: account, id } = await service.createUser();
  const rows: [path: string, body: object, message: RegExp][] = [
    ['accounts/disable', { account, when: 'now' }, /^must NOT have additional properties when$/],
    ['accounts/disable', {}, /^must have required property 'account'$/],
    ['accounts/disable', { account: id }, /^account must be string$/],
    ['accounts/disable', [account], /^must be object$/],
    ['accounts/show', { account: 'a\0b' }, /^account must match pattern/],
    ['accounts/list', { limit: '5' }, /^limit must be integer$/],
    ['accounts/list', { limit: 0 }, /^limit must be >= 1$/],
    ['accounts/end-sessions', { accounts: [account] }, /^must NOT have additional properties accounts$/],
    ['log/list', { limit: 1, before: 2 ** 53 }, /^before must be <= 9007199254740991$/],
    ['accounts/disable', { account, operator: '' }, /^operator must NOT have fewer than 1 characters$/],
  ];
  for (const [path, body, message] of rows) {
    const response = await send(
      `/admin/${path}`,
      JSON.stringify(Array.isArray(body) ? body : { operator: 'o', ...body }),
    );
    t.equal(response.statusCode, 400, path);
    t.match(await json(response), { message }, path);
  }
  t.equal((await send('/admin/accounts/disable', '{"account":')).statusCode, 400, 'malformed JSON');
  t.equal((await send('/admin/accounts/disable', '')).statusCode, 400, 'no body');
  const type = { 'Content-Type': 'text/plain' };
  t.equal((await send('/admin/accounts/disable', JSON.stringify({ account }), type)).statusCode, 400, 'not JSON');
  t.equal((await send('/admin/accounts/destroy', JSON.stringify({ account }))).statusCode, 404);
  const select = db.selectFrom('accounts').select('disabled_at').where('id', '=', id);
  t.same(await select.executeTakeFirstOrThrow(), { disabled_at: null });
  t.equal((await db.selectFrom('sessions').selectAll().where('account_id', '=', id).execute()).length, 1);
});

t.test('an unexpected error is logged, and the response does not contain it', async (t) => {
  const lines: string[] = [];
  const failing = (error: Error) =>
    ({
      ...service.context,
      db: {
        ...db,
        selectFrom: () => {
          throw error;
        },
      },
    }) as never;
  const respond = async (error: Error) => {
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const server = buildControlServer({ admin: failing(error) }, log);
    const response = await server.inject({
      method: 'POST',
      url: '/admin/posts/show',
      payload: { posts: ['1'], operator: 'o' },
    });
    return [response.statusCode, response.json()];
  };
  t.same(await respond(new Error('a secret')), [500, { message: 'An unexpected error occurred: see the log' }]);
  t.match(lines, [/a secret.*\/admin\/posts\/show failed/]);
  t.match(await respond(new StoreUnavailableError('postgres')), [503, { message: /postgres store is not available/ }]);
  t.equal(lines.length, 1, 'an outage is logged by the store');
});

t.test('a backup ends when its client stops reading, and a second one meanwhile is refused', async (t) => {
  const { backup, isRunning } = endlessBackup();
  const { send } = await startServer(t, backup, { idleTimeoutMs: 100 });
  const responses = await Promise.all([send('/backup', '{}'), send('/backup', '{}')]);
  const [response, refused] = responses.sort((one, other) => Number(one.statusCode) - Number(other.statusCode));
  t.same([response?.statusCode, refused?.statusCode], [200, 409], 'there is one backup at a time');
  await until(() => !isRunning());
  await t.rejects(buffer(response as IncomingMessage), { code: 'ECONNRESET' });
  t.equal((await send('/backup', '{}')).statusCode, 200, 'another can be made');
});

t.test('an archive that fails is logged, and no client takes it for complete', async (t) => {
  async function* backup() {
    yield Buffer.alloc(1);
    throw new Error('the disk is gone');
  }
  const { server, send } = await startServer(t, backup);
  await t.rejects(buffer(await send('/backup', '{}')), { code: 'ECONNRESET' });
  const injected = await server.inject({ method: 'POST', url: '/backup', payload: {}, payloadAsStream: true });
  await t.rejects(buffer(injected.stream()), { code: 'LIGHT_ECONNRESET' });
  t.equal(service.logged().match(/"message":"the disk is gone".*"msg":"\/backup failed"/g)?.length, 2);
});

t.test('a client that waits for the service is not disconnected', async (t) => {
  async function* backup() {
    const [socket] = await connected;
    await once(socket, 'timeout');
    yield Buffer.from('complete');
  }
  const { server, send } = await startServer(t, backup, { idleTimeoutMs: 50 });
  const connected = once(server.server, 'connection');
  t.equal(await text(await send('/backup', '{}')), 'complete');
});

t.test('a shutdown ends a backup and idle connections', async (t) => {
  const { backup, isRunning } = endlessBackup();
  const { server, send } = await startServer(t, backup);
  const agent = new Agent({ keepAlive: true });
  await buffer(await send('/admin/accounts/list', '{"limit":1,"operator":"o"}', {}, agent));
  const response = await send('/backup', '{}');
  await server.close();
  await until(() => !isRunning());
  await t.rejects(buffer(response), { code: 'ECONNRESET' });
});
