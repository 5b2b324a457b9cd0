import { EventEmitter, once } from 'node:events';
import { cp, mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { openEmbeddedPostgres } from '../../db/postgres/embedded.js';
import { watchFreeSpace } from '../../db/postgres/free-space.js';
import { createSender, type TestResponse } from '../support/http.js';
import { expectRefusedStart, runCommand, startProcess } from '../support/processes.js';
import { PASSWORD, picture } from '../support/service.js';
import {
  freshDataDirectory,
  mountSmallDisk,
  onServices,
  silentLog,
  temporaryDirectory,
  whyNotMountable,
} from '../support/stores.js';
import { until } from '../support/until.js';
import { registerUser } from '../support/users.js';

const MEBIBYTE = 2 ** 20;

const skip = onServices ? 'applies only to embedded stores' : whyNotMountable();

/** Creates a data directory on a disk of 256 MiB that can be filled. */
async function createFillableDisk(t: Test) {
  const root = await mountSmallDisk(t, 256);
  const dataDir = join(root, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  await cp(await freshDataDirectory(t), dataDir, { recursive: true });
  const filler = join(root, 'filler');
  return {
    dataDir,
    /** Fills the disk except for this much space. */
    async fillLeaving(mebibytes: number) {
      await rm(filler, { force: true });
      const { bavail, bsize } = await statfs(root);
      await writeFile(filler, Buffer.alloc(bavail * bsize - mebibytes * MEBIBYTE)).catch((error) => {
        // The disk is full already if the service has just written more.
        if (error.code !== 'ENOSPC') throw error;
      });
    },
    freeSpace: () => rm(filler),
  };
}

t.test('the database is writable again if space is freed while it becomes read-only', { skip }, async (t) => {
  const { dataDir, fillLeaving, freeSpace } = await createFillableDisk(t);
  const { db, close } = await openEmbeddedPostgres(join(dataDir, 'postgres'), silentLog);
  t.teardown(close);
  const extra = join(dataDir, 'extra');
  await writeFile(extra, Buffer.alloc(24 * MEBIBYTE));
  await fillLeaving(48);
  const logEvents = new EventEmitter();
  // The transaction occupies the only connection, so the database cannot become read-only before the transaction ends.
  await db.transaction().execute(async () => {
    const low = once(logEvents, 'low');
    const watched = await watchFreeSpace(dataDir, db, { warn: () => logEvents.emit('low'), info: () => undefined });
    t.teardown(watched.stop);
    await low;
    await rm(extra);
    t.equal(await watched.check(), false, 'a little more than the reserve is not enough');
    await freeSpace();
    t.equal(await watched.check(), true, 'an upload finds enough space');
  });
  await until(async () => {
    const { rows } = await sql<{ setting: string }>`
      select current_setting('default_transaction_read_only') as setting`.execute(db);
    return rows[0]?.setting === 'off';
  });
  t.pass('the database is writable');
});

t.test('a full disk', { skip }, async (t) => {
  const { dataDir, fillLeaving, freeSpace } = await createFillableDisk(t);
  const environment = { DATA_DIR: dataDir };
  let service = await startProcess(t, environment);
  let send = createSender(t, service.url);
  const startAgain = async () => {
    service = await startProcess(t, environment);
    send = createSender(t, service.url);
  };
  const { email, token } = await registerUser(t, service.url);
  const createPost = (image?: Blob) =>
    send('POST', '/posts/create', { token, form: { title: 'T', text: 'T', ...(image && { image }) } });
  const createPostWithImage = () => createPost(picture());
  const acknowledged: number[] = [];
  /** Creates posts until a response has this status, which is 201 or 503. */
  async function createUntil(status: number): Promise<TestResponse> {
    for (let attempt = 0; attempt < 1000; attempt += 1) {
      const response = await createPost();
      if (response.status === 201) acknowledged.push(response.body.id);
      t.ok([201, 503].includes(response.status), String(response.status));
      if (response.status === status) return response;
      await sleep(20);
    }
    throw new Error(`No response had status ${status}`);
  }
  /** Expects the list of posts to contain exactly the acknowledged ones. */
  async function expectReads(t: Test): Promise<void> {
    const { status, body } = await send('GET', '/posts?limit=100', { token });
    t.equal(status, 200);
    t.same(body.map(({ id }: { id: number }) => id).sort(), [...acknowledged].sort());
  }
  await createUntil(201);
  const [firstId] = acknowledged;

  await t.test('writes return 503, and reads are served', async (t) => {
    await fillLeaving(48);
    const refused = await createUntil(503);
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    t.match(refused.body, { code: 'store_unavailable', message: /^The disk of the service is full/ });
    const ready = await fetch(`${service.opsUrl}/readyz`);
    t.equal(ready.status, 503);
    t.match(await ready.json(), { stores: { postgres: { ok: false, reason: /^The disk of DATA_DIR is full/ } } });
    t.equal((await fetch(`${service.opsUrl}/readyz?exclude=postgres`)).status, 200, 'reads are served');
    const reason = /^The postgres store is not available: .* read-only transaction: the disk is full[^\n]*\n$/;
    t.match(await runCommand(t, ['admin', 'accounts', 'disable', email, '--yes'], environment), {
      code: 1,
      output: reason,
    });
    const writes = {
      'a post with an image': createPostWithImage,
      'a like': () => send('POST', `/posts/like?id=${firstId}`, { token }),
      'a login': () => send('POST', '/auth/login', { json: { email, password: PASSWORD } }),
      'a logout': () => send('POST', '/auth/logout', { token }),
      'a change of the profile': () => send('PUT', '/profiles/me', { token, form: { name: 'Eve' } }),
    };
    for (const [write, sendWrite] of Object.entries(writes)) t.equal((await sendWrite()).status, 503, write);
    const uploads = await readdir(join(dataDir, 'uploads'), { recursive: true });
    const left = uploads.filter((name) => name.endsWith('.upload'));
    t.same(left, [], 'no upload remains');
    await expectReads(t);
  });

  await t.test('a backup to another disk works although no byte is free', async (t) => {
    await fillLeaving(0);
    const directory = await temporaryDirectory(t);
    const file = join(directory, 'backup.tar');
    t.match(await runCommand(t, ['backup', '--to', file], environment), { code: 0 });
    const DATA_DIR = join(directory, 'restored');
    t.match(await runCommand(t, ['restore', '--from', file], { DATA_DIR }), { code: 0 });
    const restored = await startProcess(t, { DATA_DIR });
    const { body } = await createSender(t, restored.url)('GET', '/posts?limit=100', { token });
    t.same(body.map(({ id }: { id: number }) => id).sort(), [...acknowledged].sort());
    await fillLeaving(48);
  });

  await t.test('after kill -9 and a restart reads are served and writes return 503', async (t) => {
    await service.end('SIGKILL');
    await startAgain();
    await expectReads(t);
    await createUntil(503);
  });

  await t.test('accepts writes once there is space, without a restart', async (t) => {
    await freeSpace();
    await createUntil(201);
    t.equal((await createPostWithImage()).status, 201);
    acknowledged.push((await send('GET', '/posts?limit=1', { token })).body[0].id);
    await expectReads(t);
  });

  await t.test('loses nothing when the disk fills up suddenly, and recovers', async (t) => {
    const filling = fillLeaving(0);
    await createUntil(503);
    await filling;
    await expectReads(t);
    await freeSpace();
    await createUntil(201);
    await expectReads(t);
  });

  await t.test('without space for a start, one line says what to do', async (t) => {
    await service.end('SIGKILL');
    await fillLeaving(8);
    const line = /^The disk of \S+ is full: \d+ MiB are free, and a start needs 32 MiB\. Free some space /;
    await expectRefusedStart(t, environment, line);
    t.match(await runCommand(t, ['admin', 'accounts', 'list'], environment), { code: 1, output: line });
    await freeSpace();
    await startAgain();
    await expectReads(t);
    await createUntil(201);
  });

  t.equal(await service.end('SIGTERM'), 0);
  const verify = await runCommand(t, ['verify/index'], environment);
  t.equal(verify.code, 0, verify.output);
});
