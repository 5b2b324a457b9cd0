import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { create, list } from 'tar';
import { createBackup } from '../../db/backup/create.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { createSender } from '../support/http.js';
import { listImageNames, putBytes } from '../support/image-store.js';
import { startLoad } from '../support/load.js';
import {
  runCommand,
  type ServiceProcess,
  script,
  spawnNode,
  startAndFail,
  startProcess,
} from '../support/processes.js';
import { createPost, picture, startTestService } from '../support/service.js';
import { repeat } from '../support/store-fixtures.js';
import {
  freshDataDirectory,
  mountSmallDisk,
  onServices,
  openTestStores,
  temporaryDirectory,
  whyNotMountable,
} from '../support/stores.js';
import { until } from '../support/until.js';
import { registerUser } from '../support/users.js';

const skip = onServices && 'applies only to embedded stores';

const backUp = (t: Test, dataDir: string, file: string) =>
  runCommand(t, ['backup', '--to', file], { DATA_DIR: dataDir });

const restore = (t: Test, file: string, dataDir: string) =>
  runCommand(t, ['restore', '--from', file], { DATA_DIR: dataDir });

/** Adds a file of 200 MiB to the images, so that a backup takes a while. */
const addLargeImage = (dataDir: string) =>
  writeFile(join(dataDir, 'images', `${'0'.repeat(32)}.png`), Buffer.alloc(200 * 2 ** 20));

/** Kills a process once a file has at least this size. */
async function killAtSize(child: ServiceProcess['child'], path: string, bytes: number): Promise<void> {
  await until(() => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= bytes);
  child.kill('SIGKILL');
}

t.test('a restored backup that was taken under load has every acknowledged write', { skip }, async (t) => {
  const dataDir = await freshDataDirectory(t);
  const service = await startProcess(t, { DATA_DIR: dataDir });
  const users = await repeat(4, () => registerUser(t, service.url));
  const { posts, untilMoreCreated, stop } = startLoad(users);
  await untilMoreCreated(20);
  const file = join(await temporaryDirectory(t), 'backup.tar');
  const acknowledged = [...posts];
  const { code, output } = await backUp(t, dataDir, file);
  const remaining = acknowledged.filter((post) => posts.has(post));
  t.equal(code, 0, output);
  await untilMoreCreated(8);
  await stop();
  await service.end('SIGKILL');
  t.equal((await stat(file)).mode & 0o777, 0o600, 'only the owner may read the backup');

  const restored = join(await temporaryDirectory(t), 'restored');
  const restoring = await restore(t, file, restored);
  t.equal(restoring.code, 0, restoring.output);
  const restoredService = await startProcess(t, { DATA_DIR: restored });
  const send = createSender(t, restoredService.url);
  const token = users[0]?.token ?? '';
  for (const { id, title, image } of remaining) {
    t.match(await send('GET', `/posts/${id}`, { token }), { status: 200, body: { title, image } });
    t.ok((await send('GET', image, { token })).bytes.equals(samples.png), 'the image is complete');
  }
  t.ok(remaining.length > 0);
  const form = { title: 'T', text: 'T', image: picture() };
  t.equal((await send('POST', '/posts/create', { token, form })).status, 201);
  t.equal(await restoredService.end('SIGTERM'), 0);
  const verify = await runCommand(t, ['verify/index'], { DATA_DIR: restored });
  t.equal(verify.code, 0, verify.output);
});

t.test('an image that is deleted during a backup is in the backup, and removed afterwards', { skip }, async (t) => {
  const service = await startTestService(t);
  const { embedded, images } = service.stores;
  if (!embedded) throw new Error('Expected embedded stores');
  const user = await service.createUser();
  const { id, image: path } = await createPost(user, { image: picture() });
  const name = path?.split('/').at(-1) ?? '';
  const file = join(await temporaryDirectory(t), 'backup.tar');
  const output = await open(file, 'w');
  let isDeleted = false;
  for await (const chunk of embedded.backup()) {
    await output.write(chunk);
    if (isDeleted || !/postgres\/pg_wal\/[0-9A-F]{24}/.test(Buffer.from(chunk).toString('latin1'))) continue;
    // The backup of the database is complete, and contains the post.
    t.equal((await user.send('DELETE', `/posts/delete?id=${id}`)).status, 200);
    isDeleted = true;
  }
  await output.close();
  t.ok(isDeleted);
  const archived: string[] = [];
  await list({ file, onReadEntry: (entry) => void archived.push(entry.path) });
  t.ok(archived.includes(`images/${name}`));
  await until(async () => !(await listImageNames(images)).includes(name));
});

t.test('an image that is stored while a backup ends is not in the backup', { skip }, async (t) => {
  const { db, directory, images, imageHolds } = await openTestStores(t);
  if (!imageHolds) throw new Error('Expected embedded stores');
  let storing: Promise<string> | undefined;
  const holdPuts = async () => {
    const release = await imageHolds.holdPuts();
    storing = putBytes(images, directory.uploads, samples.png);
    return release;
  };
  const file = join(await temporaryDirectory(t), 'backup.tar');
  await writeFile(file, createBackup({ db, directory, imageHolds: { ...imageHolds, holdPuts } }));
  const name = await storing;
  t.ok((await listImageNames(images)).includes(name ?? ''), 'it is stored once the backup has ended');
  const archived: string[] = [];
  await list({ file, onReadEntry: (entry) => void archived.push(entry.path) });
  // The database of the backup contains neither the row nor the outbox entry of the image, so the image would be an orphan.
  t.notOk(archived.includes(`images/${name}`));
});

t.test('an interrupted backup leaves no backup file, and the next one succeeds', { skip }, async (t) => {
  const dataDir = await freshDataDirectory(t);
  const file = join(await temporaryDirectory(t), 'backup.tar');
  const service = await startProcess(t, { DATA_DIR: dataDir });
  await addLargeImage(dataDir);

  await t.test('kill -9 of the command', async (t) => {
    const { child } = spawnNode(t, [script('backup'), '--to', file], { DATA_DIR: dataDir });
    const ended = once(child, 'close');
    await killAtSize(child, `${file}.part`, 2 ** 20);
    t.same(await ended, [null, 'SIGKILL']);
    t.notOk(existsSync(file));
    const { code, output } = await backUp(t, dataDir, file);
    t.equal(code, 0, output);
    await rm(file);
  });

  await t.test('kill -9 of the service', async (t) => {
    const command = backUp(t, dataDir, file);
    await killAtSize(service.child, `${file}.part`, 2 ** 20);
    t.match(await command, { code: 1, output: 'The service did not send the whole file: see its log\n' });
    t.notOk(existsSync(file));
    t.notOk(existsSync(`${file}.part`));
    const again = await startProcess(t, { DATA_DIR: dataDir });
    t.equal((await backUp(t, dataDir, file)).code, 0);
    t.equal(await again.end('SIGTERM'), 0);
  });
});

t.test('restoring', { skip }, async (t) => {
  const source = await freshDataDirectory(t);
  const file = join(await temporaryDirectory(t), 'backup.tar');
  await addLargeImage(source);
  t.equal((await backUp(t, source, file)).code, 0, 'a backup needs no running service');
  const pipe = `${file}.pipe`;
  execFileSync('mkfifo', [pipe]);
  for (const path of [source, pipe])
    t.same(await backUp(t, source, path), { code: 1, output: `--to: ${path} exists and is not a file\n` });
  t.ok(statSync(pipe).isFIFO(), 'the pipe is not replaced');
  t.match(await backUp(t, source, join(source, 'missing', 'backup.tar')), {
    code: 1,
    output: `${join(source, 'missing')} does not exist\n`,
  });
  t.match(await backUp(t, source, file), { code: 1, output: `--to: ${file} exists: add --force to replace it\n` });
  t.equal((await runCommand(t, ['backup', '--to', file, '--force'], { DATA_DIR: source })).code, 0);

  await t.test(
    'after kill -9 during a restore the service does not start, and the restore can be repeated',
    async (t) => {
      // A directory that exists is accepted if it is empty.
      const restored = await temporaryDirectory(t);
      const { child } = spawnNode(t, [script('restore'), '--from', file], { DATA_DIR: restored });
      const ended = once(child, 'close');
      await killAtSize(child, join(restored, 'restoring', 'postgres', 'PG_VERSION'), 1);
      t.same(await ended, [null, 'SIGKILL']);
      const unfinished = `${restored} has an unfinished restore: run npm run restore again\n`;
      t.same(await startAndFail(t, { DATA_DIR: restored }), { code: 1, output: unfinished });
      const variables = join(await temporaryDirectory(t), "operator's.env");
      await writeFile(variables, 'LOG_LEVEL=error\n');
      const options = ['--from', file, '--env-file', variables];
      const { code, output } = await runCommand(t, ['restore', ...options], { DATA_DIR: restored });
      t.equal(code, 0);
      for (const command of ['run verify', 'start'])
        t.match(output, `  DATA_DIR=${restored} npm ${command} -- --env-file '${variables.replace("'", "'\\''")}'\n`);
      t.notOk(existsSync(join(restored, 'restoring')));
      t.equal(await (await startProcess(t, { DATA_DIR: restored })).end('SIGTERM'), 0);
    },
  );

  await t.test('refuses a directory that is not empty', async (t) => {
    const before = await readdir(source);
    const refused = { code: 1, output: `${source} is not empty: restore the backup into a new DATA_DIR\n` };
    t.same(await restore(t, file, source), refused);
    t.same(await readdir(source), before);
  });

  await t.test('rejects a truncated or changed archive before anything is written', async (t) => {
    const { size } = await stat(file);
    const restored = join(await temporaryDirectory(t), 'restored');
    const expectRefused = async (what: string) => {
      const { code, output } = await restore(t, file, restored);
      t.equal(code, 1, what);
      t.match(output, /^\S+ is not a complete backup: .+\n$/, what);
      t.notOk(existsSync(restored), what);
    };
    const archive = await open(file, 'r+');
    await archive.write('x', size - 100 * 2 ** 20);
    await expectRefused('a changed byte');
    await archive.write('\0', size - 100 * 2 ** 20);
    await archive.close();
    for (const length of [size - 1024 - 512, size - 4096, size - 2 ** 20, size / 2, 1024, 0]) {
      await truncate(file, length);
      await expectRefused(`${length} of ${size} bytes`);
    }
    await writeFile(file, await readFile('README.md'));
    await expectRefused('another file');
    const links = await temporaryDirectory(t);
    await symlink('README.md', join(links, 'link'));
    await create({ file, cwd: links }, ['link']);
    await expectRefused('a symbolic link');
    await rm(file);
    t.same(await restore(t, file, restored), { code: 1, output: `${file} does not exist\n` });
  });
});

t.test('a full disk is named, and leaves no backup', { skip: skip || whyNotMountable() }, async (t) => {
  const source = await freshDataDirectory(t);
  const disk = await mountSmallDisk(t, 8);
  const expected = {
    code: 1,
    output: /^The disk is full: free some space and run the command again \(ENOSPC: .*\)\n$/,
  };
  t.match(await backUp(t, source, join(disk, 'backup.tar')), expected);
  t.same(await readdir(disk), []);
  const file = join(await temporaryDirectory(t), 'backup.tar');
  t.equal((await backUp(t, source, file)).code, 0);
  t.match(await restore(t, file, join(disk, 'restored')), expected);
});

t.test('stores that were moved are not backed up', { skip }, async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const stores = await openTestStores(t, { DATA_DIR });
  await stores.db.updateTable('installation').set({ moved_to: 'db.example' }).execute();
  await stores.close();
  const { code, output } = await backUp(t, DATA_DIR, join(DATA_DIR, 'backup.tar'));
  t.equal(code, 1);
  t.match(output, /was moved to db.example/);
});

t.test('backup and restore refuse to run if DATABASE_URL is set, and name the alternative', async (t) => {
  const variables = {
    DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/nowhere',
    TOKEN_KEYS: 'one:4c1d9e7b03f86a52e0b7d4916fc3a825',
    DATA_DIR: await temporaryDirectory(t),
  };
  t.same(await runCommand(t, ['backup', '--to', 'x'], variables), {
    code: 1,
    output: 'DATABASE_URL is set: back up that server with its own tools, such as pg_dump\n',
  });
  t.match(await runCommand(t, ['restore', '--from', 'x'], variables), {
    code: 1,
    output: /^DATABASE_URL is set: .*\n$/,
  });
});
