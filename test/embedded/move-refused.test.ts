import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import t from 'tap';
import { embedded, move, oneLine, openBare, SHARED } from '../support/moves.js';
import { runCommand } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';

t.test('it is refused, in one line and before anything is written, where it would mix or part', async (t) => {
  const refuses = async (from: NodeJS.ProcessEnv, to: NodeJS.ProcessEnv, line: RegExp) => {
    const { code, output } = await move(t, from, to);
    t.equal(code, 1);
    t.match(output, oneLine);
    t.match(output, line);
  };
  const inhabited = async () => {
    const stores = await embedded(t);
    // Directories that are copies of one are one installation.
    await openBare(stores, async ({ db, images }) => {
      const { id } = await db
        .updateTable('installation')
        .set({ id: sql`gen_random_uuid()` })
        .returning('id')
        .executeTakeFirstOrThrow();
      await images.claim(id);
    });
    const service = await startTestService(t, stores);
    const person = await service.createUser();
    return { stores, service, person };
  };
  const source = await inhabited();
  const other = await inhabited();
  const empty = await embedded(t);
  await refuses(source.stores, empty, /in use/);
  await source.service.stop();
  await refuses(source.stores, other.stores, /in use/);
  await other.service.stop();
  await refuses(source.stores, other.stores, /PostgreSQL of the target is not empty/);
  const untouched = await startTestService(t, other.stores);
  t.equal((await untouched.send('GET', '/auth/me', { token: other.person.token })).status, 200);
  await untouched.stop();
  await refuses(empty, await embedded(t), /nothing in the source/);
  await refuses(source.stores, { ...empty, TOKEN_TTL: 'soon' }, /target\.env: TOKEN_TTL/);
  t.match((await move(t, source.stores, source.stores)).output, /^Nothing to move/);

  const stray = await embedded(t);
  await openBare(stray, ({ directory }) => writeFile(join(directory.images, 'stray.png'), 'x'));
  await refuses(source.stores, stray, /image store of the target \(disk\) is not empty/);
  const foreign = await embedded(t);
  await openBare(foreign, ({ images }) => images.claim('somebody'));
  await refuses(source.stores, foreign, /image store of the target \(disk\) belongs to another PostgreSQL/);

  t.equal((await move(t, source.stores, empty, (output) => /copying posts/.test(output))).code, 'SIGKILL');
  await refuses(other.stores, empty, /PostgreSQL of the target is not empty/);
  await refuses(empty, await embedded(t), /being filled itself/);
  await refuses(empty, empty, /being filled itself/);
  t.equal((await move(t, source.stores, empty)).code, 0);
  await refuses(source.stores, await embedded(t), new RegExp(`was moved to ${empty.DATA_DIR}`));

  await openBare(other.stores, ({ images }) => images.claim('somebody'));
  await refuses(other.stores, await embedded(t), /image store of the source \(disk\) is not the one/);
});

t.test('a copy from before is not taken for what was moved', async (t) => {
  const source = await embedded(t);
  const service = await startTestService(t, source);
  await service.createUser();
  await service.stop();
  const copy = { ...SHARED, DATA_DIR: await temporaryDirectory(t) };
  await cp(source.DATA_DIR, copy.DATA_DIR, { recursive: true });
  const { code, output } = await move(t, source, copy);
  t.equal(code, 1);
  t.match(output, /target is not empty/);
});

t.test('people stay logged in with the keys that it names and does not tell', async (t) => {
  const source = { DATA_DIR: await freshDataDirectory(t) };
  const service = await startTestService(t, source);
  const ada = await service.createUser();
  await service.stop();
  const keys = (await readFile(join(source.DATA_DIR, 'token-keys'), 'utf8')).trim();
  const target = await embedded(t);
  const { output } = await move(t, source, target);
  t.match(output, `append a comma and the line in ${join(source.DATA_DIR, 'token-keys')} to TOKEN_KEYS`);
  t.notMatch(output, keys.split(':')[1] ?? '');
  const there = await startTestService(t, { ...target, TOKEN_KEYS: `${target.TOKEN_KEYS},${keys}` });
  t.equal((await there.send('GET', '/auth/me', { token: ada.token })).status, 200);
});

t.test('a file that is not there, or no file, is said', async (t) => {
  const run = async (args: string[]) => {
    const { code, output } = await runCommand(t, ['move', ...args], {});
    t.equal(code, 1);
    return output;
  };
  t.match(await run(['--to', '/nowhere/target.env']), /ENOENT.*\/nowhere\/target\.env/);
  t.match(await run([]), /^npm run move -- --to FILE/);
  t.match(await run(['--form', 'x']), /^Unknown option '--form'/);
});
