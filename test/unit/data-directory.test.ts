import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { claimDataDirectory, DataDirectoryInUseError } from '../../db/support/data-directory.js';

t.test('only processes without an embedded database can share a directory', async (t) => {
  const root = t.testdir();
  const exclusive = await claimDataDirectory(root, { shared: false });
  for (const shared of [true, false]) await t.rejects(claimDataDirectory(root, { shared }), DataDirectoryInUseError);
  await exclusive.release();
  const sharing = [await claimDataDirectory(root, { shared: true }), await claimDataDirectory(root, { shared: true })];
  await t.rejects(claimDataDirectory(root, { shared: false }), DataDirectoryInUseError);
  for (const directory of sharing) await directory.release();
});

t.test('claiming a directory removes the uploads of processes that have ended, and no others', async (t) => {
  const root = t.testdir();
  const running = await claimDataDirectory(root, { shared: true });
  await writeFile(join(running.uploads, 'in progress'), 'bytes');
  const abandoned = join(root, 'uploads', 'abandoned');
  await mkdir(abandoned);
  await writeFile(`${abandoned}.lock`, '');
  const next = await claimDataDirectory(root, { shared: true });
  t.same(await readdir(running.uploads), ['in progress']);
  t.notOk((await readdir(join(root, 'uploads'))).some((name) => name.startsWith('abandoned')));
  await running.release();
  t.notOk(existsSync(running.uploads), 'releasing the claim removes its uploads');
  await next.release();
});

t.test('the lock and existing subdirectories become private', async (t) => {
  const root = t.testdir({ images: {}, lock: '' });
  await chmod(join(root, 'images'), 0o755);
  await chmod(join(root, 'lock'), 0o644);
  const directory = await claimDataDirectory(root, { shared: false });
  for (const path of [directory.images, directory.uploads]) t.equal((await stat(path)).mode & 0o777, 0o700, path);
  t.equal((await stat(join(root, 'lock'))).mode & 0o777, 0o600);
  await directory.release();
});

t.test('a claim that fails is released', async (t) => {
  const root = t.testdir({ images: 'a file in place of the directory' });
  await t.rejects(claimDataDirectory(root, { shared: false }), { code: 'EEXIST' });
  await rm(join(root, 'images'));
  const directory = await claimDataDirectory(root, { shared: false });
  await directory.release();
});
