import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { expectRows, row, runDoctor } from '../support/doctor.js';
import { listen } from '../support/listen.js';
import { script } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import {
  freshDataDirectory,
  mountSmallDisk,
  onServices,
  temporaryDirectory,
  whyNotMountable,
} from '../support/stores.js';

const SECRET = '6b1f0e9ad27c4835be04c7f9125d8a63';

/** Starts an operations server that sends this response to every request, and returns its port. */
async function startOpsServer(t: Test, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(body));
  return String(await listen(t, server));
}

t.test('finds nothing wrong beside a running service', async (t) => {
  const service = await startTestService(t);
  const OPS_PORT = new URL(service.opsUrl).port;
  const { code, output, rows } = await runDoctor(t, { ...service.environment, OPS_PORT });
  t.equal(code, 0, output);
  t.match(output, /^check +result +detail\n/);
  t.match(output, /^0 failed, 0 warnings\. To check the contents of the stores: npm run verify\n$/m);
  t.match(rows, {
    '/livez': row('ok', /: ok, \d+ ms$/),
    '/readyz': row('ok', /: ok, \d+ ms$/),
    DATA_DIR: row('ok', /mode \d+, owner \d+$/),
  });
  if (!onServices)
    t.match(rows['embedded database'], row('skipped', new RegExp(`^not opened: process ${process.pid} uses it`)));
});

t.test('changes nothing in a data directory that no service uses', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const list = () => readdir(DATA_DIR, { recursive: true }).then((names) => names.sort());
  const before = await list();
  await expectRows(
    t,
    { DATA_DIR },
    {
      'embedded database': row('skipped', /^not opened, and no service uses it/),
      'images in DATA_DIR': row('ok', /readable and writable/),
    },
  );
  t.same(await list(), before);
});

t.test('accepts a data directory that the first start will create', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'new', 'data');
  await expectRows(
    t,
    { DATA_DIR },
    {
      DATA_DIR: row('ok', /the first start creates it$/),
      'embedded database': row('ok', /the first start creates it$/),
      TOKEN_KEYS: row('ok', /the first start generates a key/),
    },
  );
});

t.test('reports every invalid variable as the service does', async (t) => {
  const { code, rows } = await runDoctor(t, { PORT: 'x', LOG_LEVEL: 'loud' });
  t.equal(code, 1);
  t.match(rows.configuration, row('failed', /^PORT: "x" is not .*; LOG_LEVEL: Value "loud"/));
  t.same(Object.keys(rows), ['configuration'], 'nothing else can be checked');
});

t.test('warns of settings that are valid but probably wrong', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const keys = `new:${SECRET},old:${SECRET.replace('6', '7')}`;
  const environment = { DATA_DIR, TOKEN_KEYS: keys, PUBLIC_URL: 'https://social.example', TOKEN_TTL: '99999999' };
  const output = await expectRows(t, environment, {
    configuration: row('warning', /^TOKEN_TTL is longer than a year/),
    TOKEN_KEYS: row('ok', /^2 in TOKEN_KEYS, signing key: new$/),
    PUBLIC_URL: row('warning', /TRUST_PROXY is not set/),
  });
  t.notMatch(output, SECRET);

  await writeFile(join(DATA_DIR, 'token-keys'), 'one:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n');
  await expectRows(
    t,
    { DATA_DIR, TRUST_PROXY: '10.0.0.1' },
    {
      PUBLIC_URL: row('warning', /is not https, but TRUST_PROXY is set/),
      TOKEN_KEYS: row('failed', /\/token-keys: the secret of key 1 /),
    },
  );
});

t.test('reports problems of the data directory', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  await chmod(DATA_DIR, 0o777);
  await expectRows(t, { DATA_DIR }, { DATA_DIR: row('warning', /mode 777.*other users can change it/) });
  await mkdir(join(DATA_DIR, 'restoring'));
  await expectRows(t, { DATA_DIR }, { DATA_DIR: row('failed', /unfinished restore/) });
  const insideFile = join(DATA_DIR, 'lock', 'data');
  await expectRows(t, { DATA_DIR: insideFile }, { DATA_DIR: row('failed', /ENOTDIR|EACCES/) });
});

t.test('reports images that cannot be used', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  await writeFile(join(DATA_DIR, 'images'), 'not a directory');
  await expectRows(t, { DATA_DIR }, { 'images in DATA_DIR': row('failed', /images store is not available/) });
});

t.test('reports a full disk', { skip: whyNotMountable() }, async (t) => {
  for (const [mebibytes, expected] of [
    [500, row('warning', /^\d+ MiB: nearly full$/)],
    [50, row('failed', /^\d+ MiB: the service refuses writes below 64 MiB$/)],
  ] as const)
    await expectRows(t, { DATA_DIR: await mountSmallDisk(t, mebibytes) }, { 'free disk space': expected });
});

t.test('warns of a data directory of another user', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  await chown(DATA_DIR, 65_534, -1);
  await expectRows(t, { DATA_DIR }, { DATA_DIR: row('warning', /owner 65534, but this is user 0/) });
});

t.test('warns of a limit of open files that is too low for the connections and the pools', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  // With a much lower limit, Node 20 cannot load the modules of the command.
  const command = `ulimit -n 300; exec '${process.execPath}' ${script('doctor/index')}`;
  const noServer = { DATABASE_URL: 'postgres://127.0.0.1:1/none', TOKEN_KEYS: `a:${randomBytes(32).toString('hex')}` };
  const env = { PATH: process.env.PATH, OPS_PORT: '0', DATA_DIR, ...noServer };
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { env }).catch((error) => error);
  t.match(stdout, /^open files +warning +ulimit -n 300: up to 225 client connections.*too few files/m);
});

t.test('reports a service that is not ready, and a port that serves something else', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  const body = JSON.stringify({ status: 'unavailable', stores: { postgres: { ok: true }, graph: { ok: false } } });
  const unready = { DATA_DIR, OPS_HOST: '0.0.0.0', OPS_PORT: await startOpsServer(t, 503, body) };
  await expectRows(t, unready, { '/readyz': row('failed', /: unavailable, \d+ ms; unavailable: graph$/) });
  const other = { DATA_DIR, OPS_PORT: await startOpsServer(t, 200, '<html>') };
  await expectRows(t, other, { '/livez': row('failed', /JSON/) });
  await expectRows(t, { DATA_DIR, OPS_PORT: '1023' }, { '/livez': row('skipped', /no service is running$/) });
});
