import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { spawnService, startAndFail, startProcess } from '../support/processes.js';
import { createSender } from '../support/requests.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';
import { openConnection } from '../support/wire.js';

const oneLine = /^[^\n]+\n$/;

t.test('a start says where everything is, and SIGTERM ends it with 0', async (t) => {
  const service = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  for (const line of [
    /API +http/,
    /Explorer +http.*\/docs/,
    /Contract +http/,
    /Operations +http/,
    /Stores +embedded/,
    /Data +\//,
  ]) {
    t.match(service.output(), line);
  }
  t.equal((await fetch(`${service.url}/openapi.yaml`)).status, 200);
  t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200);
  t.equal(await service.end('SIGTERM'), 0);
});

t.test('a second start on a data directory in use says so in one line and exits 1', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const first = await startProcess(t, { DATA_DIR });
  const second = await startAndFail(t, { DATA_DIR });
  t.equal(second.code, 1);
  t.match(second.output, oneLine);
  t.match(second.output, /in use by another process/);
  t.equal((await fetch(`${first.url}/openapi.yaml`)).status, 200, 'the first one goes on');
});

t.test('after kill -9 the data directory is free at once', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const first = await startProcess(t, { DATA_DIR });
  t.equal(await first.end('SIGKILL'), 'SIGKILL');
  const second = await startProcess(t, { DATA_DIR });
  t.equal(await second.end('SIGTERM'), 0);
});

t.test(
  'kill -9 while the very first start makes its database leaves nothing that the next one trips over',
  async (t) => {
    const DATA_DIR = await temporaryDirectory(t);
    const unfinished = join(DATA_DIR, 'postgres.new');
    const { child } = spawnService(t, { DATA_DIR });
    while (!existsSync(join(unfinished, 'base'))) await new Promise((resolve) => setTimeout(resolve, 5));
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    t.ok(existsSync(unfinished), 'it was still being made');
    const second = await startProcess(t, { DATA_DIR });
    t.equal((await fetch(`${second.opsUrl}/readyz`)).status, 200);
    t.equal(await second.end('SIGTERM'), 0);
  },
);

t.test('a bad variable stops the start with one line that names it', async (t) => {
  const refused = await startAndFail(t, { DATA_DIR: await temporaryDirectory(t), TOKEN_TTL: 'soon' });
  t.equal(refused.code, 1);
  t.match(refused.output, oneLine);
  t.match(refused.output, /^TOKEN_TTL: /);
});

t.test('a directory or an address that cannot be used stops the start with one line', async (t) => {
  for (const environment of [{ DATA_DIR: '/dev/null/x' }, { HOST: '203.0.113.9' }, { HOST: 'no.such.host.invalid' }]) {
    const refused = await startAndFail(t, { DATA_DIR: await freshDataDirectory(t), ...environment });
    t.equal(refused.code, 1);
    t.match(refused.output, oneLine);
    t.match(refused.output, Object.values(environment)[0] ?? '');
  }
});

t.test('a port in use stops the start with one line', async (t) => {
  const first = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  const second = await startAndFail(t, { DATA_DIR: await freshDataDirectory(t), PORT: new URL(first.url).port });
  t.equal(second.code, 1);
  t.match(second.output, oneLine);
  t.match(second.output, new RegExp(`EADDRINUSE.*${new URL(first.url).port}`));
});

t.test('tokens and everything else outlive a restart; the keys are for their owner alone', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const first = await startProcess(t, { DATA_DIR });
  const ask = createSender(t, first.url);
  const person = { name: 'Ada', username: 'ada', email: 'ada@people.example', password: 'Quiet-Harbour-27!' };
  await ask('POST', '/auth/register', { json: person });
  const { email, password } = person;
  const { token } = (await ask('POST', '/auth/login', { json: { email, password } })).body;
  t.equal((await stat(join(DATA_DIR, 'token-keys'))).mode & 0o777, 0o600);
  await first.end('SIGTERM');
  const second = await startProcess(t, { DATA_DIR });
  const me = await createSender(t, second.url)('GET', '/auth/me', { token });
  t.equal(me.status, 200);
  t.equal(me.body.username, 'ada');
});

t.test('on SIGTERM what is under way is answered, what is new is refused, and it ends with 0', async (t) => {
  const service = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  const { socket, received, until } = openConnection(t, service.url);
  const body = JSON.stringify({ email: 'nobody@people.example', password: 'whatever' });
  const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  // The interim answer tells that the request is under way.
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await until(/100 Continue/);

  const ended = service.end('SIGTERM');
  while (
    await fetch(`${service.url}/openapi.yaml`).then(
      (answer) => answer.status === 200,
      () => false,
    )
  ) {
    // The listener is not closed yet.
  }
  socket.write(body);
  await until(/HTTP\/1.1 401[\s\S]*\}$/);
  t.match(received(), /"message"/, 'the request under way has its answer');
  socket.end();
  t.equal(await ended, 0);
});

t.test('a client that never finishes its request does not keep the service from ending', async (t) => {
  const service = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  const { socket, until } = openConnection(t, service.url);
  const head = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n';
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await until(/100 Continue/);
  t.equal(await service.end('SIGTERM'), 0);
});
