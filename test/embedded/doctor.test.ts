import { existsSync } from 'node:fs';
import { chown, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { expectRows, row, runDoctor } from '../support/doctor.js';
import { SHARED_VARIABLES } from '../support/moves.js';
import { runCommand } from '../support/processes.js';
import { freshDataDirectory, mountSmallDisk, temporaryDirectory, whyNotMountable } from '../support/stores.js';

t.test('finds nothing wrong with embedded stores, and changes nothing', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const list = () => readdir(DATA_DIR, { recursive: true }).then((names) => names.sort());
  const before = await list();
  const { code, output, rows } = await runDoctor(t, { DATA_DIR });
  t.equal(code, 0, output);
  t.match(output, /^check +result +detail\n/);
  t.match(output, /^0 failed, 0 warnings$/m);
  t.match(rows, { DATA_DIR: row('ok', /mode \d+, owner \d+$/), 'free disk space': row('ok', /^\d+ MiB$/) });
  t.same(await list(), before);
});

t.test('accepts a data directory that the first start will create', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'new', 'data');
  await expectRows(t, { DATA_DIR }, { 'free disk space': { result: 'ok' } });
  t.notOk(existsSync(DATA_DIR), 'it is not created');
});

t.test('names a data directory that was moved away, or whose database is not used', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  await rm(join(DATA_DIR, 'images', '.installation'));
  const moved = row('failed', /has no installation marker: npm run move has moved it away/);
  await expectRows(t, { DATA_DIR }, { 'embedded stores': moved });
  const servers = { DATA_DIR, DATABASE_URL: 'postgres://127.0.0.1:1/none', TOKEN_KEYS: SHARED_VARIABLES.TOKEN_KEYS };
  const { rows } = await runDoctor(t, servers);
  t.match(rows['embedded stores'], row('warning', /contains a database that is not used/));
});

t.test('names what several processes need', async (t) => {
  const embedded = { DATA_DIR: await temporaryDirectory(t) };
  await expectRows(t, embedded, { processes: row('warning', /allows only one: set DATABASE_URL/) }, [], 2);
  const DATABASE_URL = 'postgres://127.0.0.1:1/none';
  const servers = { ...embedded, DATABASE_URL, TOKEN_KEYS: SHARED_VARIABLES.TOKEN_KEYS };
  const without = async (variables: NodeJS.ProcessEnv, processes?: number) =>
    (await runDoctor(t, { ...servers, ...variables }, [], processes)).rows.processes?.detail;
  t.match(await without({}), /^SHUTDOWN_DELAY is 0: .* set it to 5/);
  t.match(await without({ SHUTDOWN_DELAY: '5' }, 2), /^REDIS_URL is not set/);
  t.equal(await without({ SHUTDOWN_DELAY: '5' }), undefined);
  t.equal(await without({}, 1), undefined);
});

t.test('refuses a data directory that is a file', async (t) => {
  const DATA_DIR = join(await temporaryDirectory(t), 'file');
  await writeFile(DATA_DIR, '');
  await expectRows(t, { DATA_DIR }, { DATA_DIR: row('failed', /is not a directory$/) });
});

t.test('exits with 2 for an invalid configuration', async (t) => {
  const invalid = await runCommand(t, ['doctor/index'], { PORT: 'x', LOG_LEVEL: 'loud' });
  t.match(invalid, { code: 2, output: /^PORT: "x" is not .*; LOG_LEVEL: Value "loud".*\n$/ });
});

t.test('repeats the warnings of a start', async (t) => {
  const environment = { DATA_DIR: await temporaryDirectory(t), TOKEN_TTL: '99999999' };
  await expectRows(t, environment, { configuration: row('warning', /^TOKEN_TTL is longer than a year/) });
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
