import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../support/stores.js';
import { buildOnce } from '../support/tools.js';

t.test('a directory is created once, and again if its manifests change or its creation was interrupted', async (t) => {
  process.env.TOOLS_DIR = await temporaryDirectory(t);
  const manifest = join(await temporaryDirectory(t), 'manifest');
  await writeFile(manifest, 'one');
  let builds = 0;
  const build = (name: string) =>
    buildOnce('thing', [manifest], async (directory) => {
      builds += 1;
      await writeFile(join(directory, name), '');
    });
  const listFiles = async (directory: string) => (await readdir(directory)).filter((name) => !name.startsWith('.'));

  t.same(await listFiles(await build('first')), ['first']);
  t.same(await listFiles(await build('second')), ['first'], 'the cached directory is returned');
  t.equal(builds, 1);

  await writeFile(manifest, 'two');
  t.same(await listFiles(await build('third')), ['third'], 'the manifest has changed');

  await writeFile(manifest, 'three');
  const interrupted = buildOnce('thing', [manifest], async (directory) => {
    await writeFile(join(directory, 'half'), '');
    throw new Error('cut short');
  });
  await t.rejects(interrupted, { message: 'cut short' });
  t.same(await listFiles(await build('fourth')), ['fourth'], 'the creation was interrupted');
});
