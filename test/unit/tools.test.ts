import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { temporaryDirectory } from '../support/stores.js';
import { buildOnce } from '../support/tools.js';

t.test('a directory is created once, and again if its manifests change or its creation was interrupted', async (t) => {
  process.env.TOOLS_DIR = await temporaryDirectory(t);
  const manifest = join(await temporaryDirectory(t), 'manifest');
  await writeFile(manifest, 'one');
  let made = 0;
  const make = (name: string) =>
    buildOnce('thing', [manifest], async (directory) => {
      made += 1;
      await writeFile(join(directory, name), '');
    });
  const madeOf = async (directory: string) => (await readdir(directory)).filter((name) => !name.startsWith('.'));

  t.same(await madeOf(await make('first')), ['first']);
  t.same(await madeOf(await make('second')), ['first'], 'it is there');
  t.equal(made, 1);

  await writeFile(manifest, 'two');
  t.same(await madeOf(await make('third')), ['third'], 'another manifest');

  await writeFile(manifest, 'three');
  const cut = buildOnce('thing', [manifest], async (directory) => {
    await writeFile(join(directory, 'half'), '');
    throw new Error('cut short');
  });
  await t.rejects(cut, { message: 'cut short' });
  t.same(await madeOf(await make('fourth')), ['fourth'], 'cut short');
});
