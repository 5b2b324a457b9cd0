import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openBareStores } from '../../db/stores/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { startService } from '../../handlers/service.js';
import { findFreePort } from '../../scripts/services/ports.js';
import { createSender } from '../support/http.js';
import { expectRefusedStart, IN_USE, runCommand, spawnService, startProcess } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { freshDataDirectory, silentLog, temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { registerUser } from '../support/users.js';
import { openConnection } from '../support/wire.js';

/** The memory of an idle service on embedded stores, also after the start that creates the database. */
const MAX_IDLE_BYTES = 300e6;

t.test('prints the addresses when it starts, and exits with 0 on SIGTERM', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  const environment = { DATA_DIR, LOG_LEVEL: 'info', LOG_FORMAT: 'text' };
  const first = await startProcess(t, environment);
  const output = first.output();
  const [firstLine, secondLine] = output.split('\n');
  t.match(firstLine, /^starting version=\S+ commit=\S+$/);
  t.equal(secondLine, `Creating a database in ${DATA_DIR} (first start only)…`);
  t.match(output, /API +http.*Explorer +http\S+\/docs.*Contract +http.*Operations +http.*Stores +embedded.*Data +\//s);
  t.equal((await fetch(`${first.url}/openapi.yaml`)).status, 200);
  t.equal((await fetch(`${first.opsUrl}/readyz`)).status, 200);
  t.equal(await first.end('SIGTERM'), 0);
  t.match(first.output(), /^GET \/openapi\.yaml 200 \d+ ms$/m, 'the log is text');
  const second = await startProcess(t, environment);
  t.notMatch(second.output(), 'Creating');
});

t.test(
  'without a terminal, the log is JSON from the start to the end, and the memory of the first start is small',
  async (t) => {
    const DATA_DIR = await temporaryDirectory(t);
    const service = await startProcess(t, {
      DATA_DIR,
      LOG_LEVEL: 'info',
      LOG_FORMAT: '',
      MALLOC_TRIM_THRESHOLD_: '131072',
    });
    const { id, token } = await registerUser(t, service.url);
    await createSender(t, service.url)('GET', '/auth/me', { token });
    const residentBytes = (await scrape(service.opsUrl)).value('process_resident_memory_bytes') ?? 0;
    t.ok(residentBytes < MAX_IDLE_BYTES, `${residentBytes} bytes`);
    t.equal(await service.end('SIGTERM'), 0);
    const lines = service
      .output()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(lines[0], { msg: 'starting', version: /^\d+\./, commit: /./ });
    const { url, opsUrl } = service;
    const started = { msg: 'started', url, opsUrl, docsUrl: `${url}/docs`, stores: 'embedded', dataDir: DATA_DIR };
    t.match(
      lines.filter(({ msg }) => msg === 'started'),
      [started],
    );
    const request = { msg: 'request', route: '/auth/me', accountId: id, pid: service.child.pid };
    t.match(
      lines.filter(({ route }) => route === '/auth/me'),
      [request],
    );
    t.match(lines.slice(-2), [{ msg: 'stopping' }, { msg: 'stopped' }]);
  },
);

t.test('PGSSLMODE and PGSSLNEGOTIATION do not affect the embedded PostgreSQL', async (t) => {
  const { opsUrl } = await startProcess(t, {
    DATA_DIR: await freshDataDirectory(t),
    PGSSLMODE: 'require',
    PGSSLNEGOTIATION: 'direct',
  });
  t.equal((await fetch(`${opsUrl}/readyz`)).status, 200);
});

t.test('on a data directory in use, a start and all commands that need it fail with one line and 3', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const first = await startProcess(t, { DATA_DIR });
  const line = `is in use by process ${first.child.pid} of this service: stop it first, or set DATA_DIR`;
  await expectRefusedStart(t, { DATA_DIR }, line, IN_USE);
  const folder = await temporaryDirectory(t);
  const [backup, target] = [join(folder, 'backup.tar'), join(folder, 'target.env')];
  await writeFile(target, `DATA_DIR=${join(folder, 'new')}\n`);
  t.equal((await runCommand(t, ['backup', '--to', backup], { DATA_DIR })).code, 0);
  for (const command of [
    ['migrate'],
    ['seed/index', '--demo'],
    ['seed/index', '--accounts', '1'],
    ['verify/index'],
    ['move/index', '--to', target],
    ['restore', '--from', backup],
  ] as const)
    t.match(await runCommand(t, command, { DATA_DIR }), { code: IN_USE, output: line }, command[0]);
  t.equal((await fetch(`${first.url}/openapi.yaml`)).status, 200, 'the first process keeps serving');
});

t.test('if one store cannot be opened, the others are closed', async (t) => {
  const dataDir = await freshDataDirectory(t);
  // Without an endpoint, S3 needs a region.
  const s3 = { endpoint: undefined, bucket: 'images', pathStyle: true, timeoutMs: 1000, poolSize: 1 };
  await t.rejects(openBareStores({ dataDir, s3 }, silentLog));
  const { close } = await openBareStores({ dataDir }, silentLog);
  await close();
});

t.test('SIGTERM, SIGINT and kill -9 end a start that creates the database, and the next start succeeds', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  const unfinished = join(DATA_DIR, 'postgres.new');
  for (const [signal, outcome] of [
    ['SIGTERM', [143, null]],
    ['SIGINT', [130, null]],
    ['SIGKILL', [null, 'SIGKILL']],
  ] as const) {
    await rm(unfinished, { recursive: true, force: true });
    const { child } = spawnService(t, { DATA_DIR });
    await until(() => existsSync(join(unfinished, 'cluster', 'base')));
    const exited = once(child, 'exit');
    child.kill(signal);
    t.same(await exited, outcome);
    t.equal(statSync(unfinished).mode & 0o777, 0o700, 'the database was incomplete, and private from the beginning');
  }
  const second = await startProcess(t, { DATA_DIR });
  t.equal((await fetch(`${second.opsUrl}/readyz`)).status, 200);
  t.equal(await second.end('SIGTERM'), 0);
});

t.test('fails to start, with one line, if a directory, address, port or bucket cannot be used', async (t) => {
  const { url } = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  const { port } = new URL(url);
  const refused: [environment: NodeJS.ProcessEnv, text: RegExp][] = [
    [{ TOKEN_KEYS_FILE: '/nowhere' }, /^TOKEN_KEYS_FILE: ENOENT.*'\/nowhere'$/m],
    [{ DATA_DIR: '/dev/null/x' }, /^DATA_DIR cannot be used: .+\/dev\/null\/x/],
    [{ DATA_DIR: '/dev/null' }, /^DATA_DIR cannot be used: .+\/dev\/null/],
    [{ DATA_DIR: '/proc/x/y' }, /^DATA_DIR cannot be used: .+\/proc/],
    [{ HOST: '203.0.113.9' }, /203\.0\.113\.9/],
    [{ HOST: 'no.such.host.invalid' }, /no\.such\.host\.invalid/],
    [{ S3_BUCKET: 'images', TOKEN_KEYS: 'one:6b1f0e9ad27c4835be04c7f9125d8a63' }, /Region is missing/],
  ];
  for (const [environment, text] of refused)
    await expectRefusedStart(t, { DATA_DIR: await freshDataDirectory(t), ...environment }, text);

  const DATA_DIR = join(await temporaryDirectory(t), 'data');
  const unused = `${await findFreePort()}`;
  for (const [variable, ports] of [
    ['PORT', { PORT: port }],
    ['OPS_PORT', { OPS_PORT: port }],
    ['OPS_PORT', { PORT: unused, OPS_PORT: unused }],
  ] as const) {
    const line = new RegExp(`^Port \\d+ of 127\\.0\\.0\\.1 is in use\\. Set ${variable} to another one\\.$`, 'm');
    await expectRefusedStart(t, { DATA_DIR, ...ports }, line, IN_USE);
  }
  t.notOk(existsSync(DATA_DIR), 'no database was created');
});

t.test('a start that fails releases what it has opened', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const start = () => startService(readConfig({ DATA_DIR, PORT: '0', OPS_PORT: '0' }), pino({ level: 'silent' }));
  const keys = join(DATA_DIR, 'token-keys');
  await writeFile(keys, 'not a key');
  await t.rejects(start());
  await rm(keys);
  const service = await start();
  t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200, 'the same process can start the service again');
  await service.stop();
});

/** Sends the head of a request, without its body, and waits until the service has begun to process it. */
async function beginLogin(t: Test, url: string, body: string) {
  const connection = openConnection(t, url);
  const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  // The interim response shows that the request is in progress.
  connection.socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await connection.until(/100 Continue/);
  return connection;
}

const LOGIN = JSON.stringify({ email: 'nobody@people.example', password: 'whatever' });

t.test('on SIGTERM completes requests in progress, refuses new ones, and exits with 0', async (t) => {
  const service = await startProcess(t, { DATA_DIR: await freshDataDirectory(t) });
  const { socket, received, until: untilReceived } = await beginLogin(t, service.url, LOGIN);
  // A request that is never completed does not prevent the shutdown.
  await beginLogin(t, service.url, LOGIN);
  const ended = service.end('SIGTERM');
  const isServing = () => fetch(`${service.url}/openapi.yaml`).then(({ status }) => status === 200);
  await until(async () => !(await isServing().catch(() => false)));
  socket.write(LOGIN);
  await untilReceived(/HTTP\/1\.1 401[\s\S]*\}$/);
  t.match(received(), /"message"/, 'the request in progress is completed');
  socket.end();
  t.equal(await ended, 0);
});
