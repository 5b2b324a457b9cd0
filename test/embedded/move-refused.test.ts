import { execFileSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { sql } from 'kysely';
import t from 'tap';
import { embeddedVariables, runMove, SHARED_VARIABLES, withBareStores } from '../support/moves.js';
import { IN_USE, ONE_LINE, runCommand } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';

t.test('mixing or splitting installations is refused in one line, before anything is written', async (t) => {
  const expectRefused = async (from: NodeJS.ProcessEnv, to: NodeJS.ProcessEnv, line: RegExp) => {
    const { code, output } = await runMove(t, from, to);
    t.equal(code, line.source === 'in use' ? IN_USE : 1);
    // After the names of source and target.
    const reason = output.slice(output.indexOf('\n\n') + 1).trimStart();
    t.match(reason, ONE_LINE);
    t.match(reason, line);
  };
  const startWithUser = async () => {
    const stores = await embeddedVariables(t);
    // All test data directories are copies of one, with the same installation id. This one gets an id of its own.
    await withBareStores(stores, async ({ db, images }) => {
      const { id } = await db
        .updateTable('installation')
        .set({ id: sql`gen_random_uuid()` })
        .returning('id')
        .executeTakeFirstOrThrow();
      await images.claim(id);
    });
    const service = await startTestService(t, stores);
    const user = await service.createUser();
    return { stores, service, user };
  };
  const source = await startWithUser();
  const other = await startWithUser();
  const empty = await embeddedVariables(t);
  await expectRefused(source.stores, empty, /in use/);
  await source.service.stop();
  await expectRefused(source.stores, other.stores, /in use/);
  await other.service.stop();
  const { code, output } = await runMove(t, source.stores, other.stores);
  t.match(
    output,
    `PostgreSQL of the target is not empty: ${other.stores.DATA_DIR}/postgres. Delete what it contains, or`,
  );
  t.equal(code, 1);
  const untouched = await startTestService(t, other.stores);
  t.equal((await untouched.send('GET', '/auth/me', { token: other.user.token })).status, 200);
  await untouched.stop();
  await expectRefused(empty, await embeddedVariables(t), /source is empty/);
  await expectRefused(source.stores, { ...empty, TOKEN_TTL: 'soon' }, /target\.env: TOKEN_TTL/);
  await expectRefused(source.stores, source.stores, /^Nothing to move/);

  const stray = await embeddedVariables(t);
  await withBareStores(stray, ({ directory }) => writeFile(join(directory.images, 'stray.png'), 'x'));
  await expectRefused(source.stores, stray, /image store of the target \(disk\) is not empty/);
  const foreign = await embeddedVariables(t);
  await withBareStores(foreign, ({ images }) => images.claim('another'));
  await expectRefused(source.stores, foreign, /image store of the target \(disk\) belongs to another PostgreSQL/);

  t.equal((await runMove(t, source.stores, empty)).code, 0);
  await expectRefused(source.stores, await embeddedVariables(t), new RegExp(`was moved to ${empty.DATA_DIR}`));
  await withBareStores(empty, ({ db }) => db.updateTable('installation').set({ moving: true }).execute());
  await expectRefused(empty, await embeddedVariables(t), /Source: A move into these stores has not been finished/);

  await withBareStores(other.stores, ({ images }) => images.claim('another'));
  await expectRefused(
    other.stores,
    await embeddedVariables(t),
    /Source: The image store \(disk\) belongs to another PostgreSQL/,
  );
});

t.test('refuses a file that is missing, selects no store, or misspells a variable', async (t) => {
  const missing = { code: 1, output: '/nowhere/target.env does not exist\n' };
  t.same(await runCommand(t, ['move/index', '--to', '/nowhere/target.env'], {}), missing);
  const source = await embeddedVariables(t);
  const refuse = async (variables: NodeJS.ProcessEnv, message: RegExp) =>
    t.match(await runMove(t, source, { ...SHARED_VARIABLES, ...variables }), { code: 1, output: message });
  await refuse({}, /^\S+target\.env sets none of the variables DATA_DIR, DATABASE_URL, NEO4J_URI, S3_BUCKET\n$/);
  const DATABSE_URL = 'postgres://db.example/social';
  await refuse({ DATA_DIR: '/nowhere', DATABSE_URL }, /^\S+target\.env: DATABSE_URL is not .+ mean DATABASE_URL\?\n$/);
});

t.test('does not mistake an older copy of the source for the result of a move', async (t) => {
  const source = await embeddedVariables(t);
  const service = await startTestService(t, source);
  await service.createUser();
  await service.stop();
  const copy = { ...SHARED_VARIABLES, DATA_DIR: await temporaryDirectory(t) };
  await cp(source.DATA_DIR, copy.DATA_DIR, { recursive: true });
  const { code, output } = await runMove(t, source, copy);
  t.equal(code, 1);
  t.match(output, /target is not empty/);
});

t.test('users stay logged in with the keys of the source, which are not printed', async (t) => {
  const source = { DATA_DIR: await freshDataDirectory(t) };
  const service = await startTestService(t, source);
  const user = await service.createUser();
  await service.stop();
  const keys = (await readFile(join(source.DATA_DIR, 'token-keys'), 'utf8')).trim();
  const target = await embeddedVariables(t);
  const { output, file } = await runMove(t, source, target);
  t.notMatch(output, keys.split(':')[1] ?? '');
  t.notMatch(output, /^\{/m, 'no log line is among its own');
  const [command = ''] = /(?<=^ {2})sed .*$/m.exec(output) ?? [];
  execFileSync('sh', ['-c', command]);
  const there = await startTestService(t, parseEnv(await readFile(file, 'utf8')) as NodeJS.ProcessEnv);
  for (const { status } of [await there.send('GET', '/auth/me', { token: user.token })]) t.equal(status, 200);
});

t.test('the line to copy appends the keys of the source to the file of the target', async (t) => {
  const directory = await temporaryDirectory(t);
  for (const [name, content] of [
    ['with a line break', 'new:c7d94f1e60b8a35279f0e1d3c5b6a482\n'],
    ['without', 'new:c7d94f1e60b8a35279f0e1d3c5b6a482'],
  ] as const) {
    const source = { DATA_DIR: await freshDataDirectory(t) };
    const service = await startTestService(t, source);
    await service.createUser();
    await service.stop();
    const keyFile = join(directory, `it's ${name}`);
    await writeFile(keyFile, content);
    const { PUBLIC_URL } = SHARED_VARIABLES;
    const target = { DATA_DIR: await freshDataDirectory(t), TOKEN_KEYS_FILE: keyFile, PUBLIC_URL };
    const { output } = await runMove(t, source, target);
    execFileSync('sh', ['-c', /(?<=^ {2}).*\bcat .*$/m.exec(output)?.[0] ?? '']);
    const keys = await readFile(keyFile, 'utf8');
    t.equal(keys, `${content.trim()}\n${await readFile(join(source.DATA_DIR, 'token-keys'), 'utf8')}`, name);
  }
});

t.test('waits for a store that is unavailable, and then names its side and the cause', async (t) => {
  const DATABASE_URL = 'postgres://user:hush@127.0.0.1:1/none';
  const source = await embeddedVariables(t);
  const service = await startTestService(t, source);
  await service.createUser();
  await service.stop();
  const unavailable = { ...SHARED_VARIABLES, DATA_DIR: await temporaryDirectory(t), DATABASE_URL };
  const { code, output } = await runMove(t, source, unavailable);
  t.equal(code, 1);
  t.match(output, /\n\nTarget: The postgres store is not available: connect ECONNREFUSED \S+\n$/);
  t.notMatch(output, 'hush');
});
