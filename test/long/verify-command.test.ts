import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { openBareStores, type Stores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { lendGraph, onServices, openTestStores, quiet, temporaryDirectory } from '../support/stores.js';
import { emptyStores, openQuietly, population } from '../support/verifying.js';

const environment = await emptyStores(t);

/** Runs the command as npm does. */
const command = async (options: string[] = [], variables = environment) => {
  await lendGraph(variables);
  const run = promisify(execFile)(process.execPath, ['.build/scripts/verify/index.js', ...options], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...variables },
  });
  return run.then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout: String(stdout), stderr: String(stderr) }),
  );
};
const change = async (changes: (stores: Stores) => Promise<unknown>) => {
  const stores = await openQuietly(t, environment);
  await changes(stores);
  await stores.close();
};

// Real stores are joined when a service first opens them.
await change(async () => undefined);

t.test('ends well on stores that agree', async (t) => {
  const { code, stdout, stderr } = await command();
  t.equal(code, 0);
  t.match(stdout, /^rule +holds +found +examples\n/);
  t.match(stdout, /^Every Person node has its account +yes +0$/m);
  t.match(stdout, /^Nothing waits in the outbox\.$/m);
  t.match(stdout, /^The stores agree\.$/m);
  t.equal(stderr, '');
});

t.test('says what is wrong, mends what it can, and says what is left', async (t) => {
  let lost = { id: 0, image: '' };
  let orphan = '';
  await change(async (stores) => {
    const { account, imaged, stored } = population(stores);
    lost = await imaged(await account());
    await stores.images.remove(lost.image);
    orphan = await stored();
    await stored('notes.txt');
  });
  const seen = await command();
  t.equal(seen.code, 1);
  t.match(seen.stdout, new RegExp(`^Every stored image belongs to a row +NO +1 +${orphan}$`, 'm'));
  t.match(seen.stdout, /^Left: Every stored image belongs to a row: 1 not so; npm run verify -- --repair mends it\.$/m);
  t.match(seen.stdout, /^The image store holds images alone +note +1 +notes\.txt$/m);
  t.match(seen.stdout, /^The stores disagree: 2 of 18 rules do not hold\.$/m);

  const mended = await command(['--repair']);
  t.equal(mended.code, 1, 'something is left');
  t.match(mended.stdout, new RegExp(`^Every stored image belongs to a row +mended +1 +1 +${orphan}$`, 'm'));
  t.match(mended.stdout, /^Mended: Every stored image belongs to a row: bytes removed \(1\)\.$/m);
  t.match(mended.stdout, new RegExp(`^Every row’s image is stored +NO +1 +0 +post ${lost.id}: ${lost.image}$`, 'm'));
  t.match(mended.stdout, /^Left: Every row’s image is stored: 1 not so; restore the bytes from a backup/m);

  await change(async ({ db, images }) => {
    await db.updateTable('posts').set({ image: null }).execute();
    await images.remove('notes.txt');
  });
  t.equal((await command(['--repair'])).code, 0);
});

t.test('touches nothing in stores that are not each other’s', async (t) => {
  let id = '';
  let orphan = '';
  await change(async (stores) => {
    orphan = await population(stores).stored();
    id = (await stores.db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
    await stores.db.updateTable('installation').set({ id: randomUUID() }).execute();
  });
  const { code, stdout, stderr } = await command(['--repair']);
  t.same([code, stdout], [2, '']);
  t.match(stderr, /^The image store \(\w+\) is not the one that PostgreSQL belongs to \(\w+\)\n$/);

  const { db, images, close } = await openBareStores(readConfig(environment).stores, quiet);
  const there = await images.get(orphan);
  t.ok(there, 'what nothing names is still there');
  there?.stream.destroy();
  await images.remove(orphan);
  await db.updateTable('installation').set({ id }).execute();
  await close();
});

t.test('says in one line why it could not look', async (t) => {
  const nothing = await command([], { DATA_DIR: await temporaryDirectory(t) });
  t.same(nothing, {
    code: 2,
    stdout: '',
    stderr: 'These stores have never served: a start of the service sets them up\n',
  });
  const wrong = await command(['--mend']);
  t.same([wrong.code, wrong.stdout], [2, '']);
  t.match(wrong.stderr, /^Unknown option '--mend'.*\n$/);
  const away = await command([], {
    DATA_DIR: await temporaryDirectory(t),
    DATABASE_URL: 'postgres://somebody:hush@127.0.0.1:1/nowhere',
    TOKEN_KEYS: 'one:4c1d9e7b03f86a52e0b7d4916fc3a825',
  });
  t.same([away.code, away.stdout], [2, '']);
  t.match(away.stderr, /The postgres store is not available.*\n$/);
  t.notMatch(away.stderr, /hush/);
});

const shared = onServices ? { skip: 'real stores are there for several processes' } : {};
t.test('leaves a data directory to the service that uses it', shared, async (t) => {
  const stores = await openTestStores(t, environment);
  const { code, stdout, stderr } = await command();
  t.same([code, stdout], [2, '']);
  t.match(stderr, /^\S+ is in use by another process of this service\n$/);
  await stores.close();
});
