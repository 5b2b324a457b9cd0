import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { writeArchive } from '../../db/backup/archive.js';
import { restoreBackup } from '../../db/backup/restore.js';
import { diskImages } from '../../db/images/disk.js';
import { makeDirectoryDurably, syncTree, writeFileDurably } from '../../db/support/durable-files.js';
import { readOrCreateTokenKeys } from '../../handlers/security/token-keys.js';
import { recordFileOperations } from '../support/file-operations.js';

const needsLinux = { skip: process.platform !== 'linux' && 'only Linux shows the paths of open files' };

t.test('syncs the bytes of a file before its name exists, and its directory afterwards', needsLinux, async (t) => {
  const root = t.testdir();
  const operations = await recordFileOperations(t, root);
  await writeFileDurably(join(root, 'file'), 'content');
  t.same(operations, ['sync file.new', 'rename file.new file', 'sync']);
  t.equal(await readFile(join(root, 'file'), 'utf8'), 'content');
  t.equal((await stat(join(root, 'file'))).mode & 0o777, 0o600);
});

t.test('syncs every directory in which a directory was created', needsLinux, async (t) => {
  const root = t.testdir({ there: {} });
  const operations = await recordFileOperations(t, root);
  await makeDirectoryDurably(join(root, 'there/a/b'));
  t.same(operations, ['sync there', 'sync there/a']);
  await makeDirectoryDurably(join(root, 'there/a/b'));
  t.equal(operations.length, 2, 'no other operations');
});

t.test('syncs a tree, each directory after its contents', needsLinux, async (t) => {
  const root = t.testdir({ a: { b: { file: '' }, file: '' } });
  const operations = await recordFileOperations(t, root);
  syncTree(root);
  t.same(operations, ['sync a/b/file', 'sync a/b', 'sync a/file', 'sync a', 'sync']);
});

t.test(
  'a restore removes what an interrupted one left, and syncs its files before their names exist',
  needsLinux,
  async (t) => {
    // An earlier restore was interrupted between two renames.
    const partial = () => ({ postgres: { unfinished: '' } });
    const root = t.testdir({ data: { ...partial(), restoring: partial() } });
    const archive = join(root, 'backup.tar');
    async function* entries() {
      yield { path: 'postgres' };
      yield { path: 'postgres/PG_VERSION', source: Buffer.from('18') };
    }
    await writeFile(archive, writeArchive(entries()));
    const operations = await recordFileOperations(t, join(root, 'data'));
    await restoreBackup(archive, join(root, 'data'));
    t.same(operations.slice(operations.indexOf('sync restoring/postgres/PG_VERSION')), [
      ...['sync restoring/postgres/PG_VERSION', 'sync restoring/postgres', 'sync restoring'],
      ...['rename restoring/postgres postgres', 'sync', 'sync'],
    ]);
    t.same(await readdir(join(root, 'data/postgres')), ['PG_VERSION']);
  },
);

t.test('syncs the file of new token keys and its directory', needsLinux, async (t) => {
  const root = t.testdir();
  const operations = await recordFileOperations(t, root);
  await readOrCreateTokenKeys(join(root, 'token-keys'));
  t.same(operations, ['sync token-keys.new', 'rename token-keys.new token-keys', 'sync']);
});

t.test('syncs stored and removed images, and the installation marker', needsLinux, async (t) => {
  const root = t.testdir({ images: {}, uploads: {} });
  const images = diskImages(join(root, 'images'));
  await writeFile(join(root, 'uploads/one'), 'bytes');
  const operations = await recordFileOperations(t, root);
  await images.put('one.png', join(root, 'uploads/one'));
  t.same(operations.splice(0), ['sync uploads/one', 'rename uploads/one images/one.png', 'sync images']);
  await images.remove('one.png');
  t.same(operations.splice(0), ['sync images']);
  await images.remove('one.png');
  t.same(operations.splice(0), ['sync images'], 'an earlier removal may not have been synced');
  await images.claim('installation');
  t.match(operations.splice(0), [
    /^sync images\/\.installation/,
    /^rename .* images\/\.installation$/,
    /^sync images$/,
  ]);
  await images.release();
  t.same(operations.splice(0), ['sync images']);
});
