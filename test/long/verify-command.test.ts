import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { openBareStores, type Stores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { script } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { createFixtures, emptyStores, openStoresWithoutRelay } from '../support/store-fixtures.js';
import { claimGraphFor, freshDataDirectory, silentLog, temporaryDirectory } from '../support/stores.js';

const environment = await emptyStores(t);

/** Runs `npm run verify`, without npm. Returns its exit code and output. */
const runVerify = async (options: string[] = [], variables = environment) => {
  await claimGraphFor(variables);
  const run = promisify(execFile)(process.execPath, [script('verify/index'), ...options], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...variables },
  });
  return run.then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout: String(stdout), stderr: String(stderr) }),
  );
};

/** Opens the stores, changes them, and closes them again. */
const changeStores = async (changes: (stores: Stores) => Promise<unknown>) => {
  const stores = await openStoresWithoutRelay(t, environment);
  await changes(stores);
  await stores.close();
};

// Stores are claimed when they are first opened, as by the first start of a service.
await changeStores(async () => undefined);

t.test('exits with 0 on consistent stores', async (t) => {
  const { code, stdout, stderr } = await runVerify();
  t.equal(code, 0);
  t.match(stdout, /^rule +holds +found +examples\n/);
  t.match(stdout, /^Every Person node has its account +yes +0$/m);
  t.match(stdout, /^The outbox is empty\.$/m);
  t.match(stdout, /^The stores agree\.$/m);
  t.equal(stderr, '');
});

t.test('reports violations, repairs what it can, and reports the rest', async (t) => {
  let lost = { id: 0, image: '' };
  let orphan = '';
  await changeStores(async (stores) => {
    const { account, postWithImage, storeImage } = createFixtures(stores);
    lost = await postWithImage(await account());
    await stores.images.remove(lost.image);
    orphan = await storeImage();
    await storeImage('notes.txt');
  });
  const found = await runVerify();
  t.equal(found.code, 1);
  t.match(found.stdout, new RegExp(`^Every stored image belongs to a row +NO +1 +${orphan}$`, 'm'));
  t.match(
    found.stdout,
    /^Unresolved: Every stored image belongs to a row \(1 left\): repair with npm run verify -- --repair\.$/m,
  );
  t.match(found.stdout, /^The image store contains only images +note +1 +notes\.txt$/m);
  t.match(found.stdout, /^The stores disagree: 2 of 11 rules are violated\.$/m);

  const repaired = await runVerify(['--repair']);
  t.equal(repaired.code, 1, 'not everything was repaired');
  t.match(repaired.stdout, new RegExp(`^Every stored image belongs to a row +repaired +1 +1 +${orphan}$`, 'm'));
  t.match(repaired.stdout, /^Repaired: Every stored image belongs to a row: bytes removed \(1\)\.$/m);
  t.match(repaired.stdout, new RegExp(`^Every row’s image is stored +NO +1 +0 +post ${lost.id}: ${lost.image}$`, 'm'));
  t.match(repaired.stdout, /^Unresolved: Every row’s image is stored \(1 left\): restore the bytes from a backup/m);

  await changeStores(async ({ db, images }) => {
    await db.updateTable('posts').set({ image: null }).execute();
    await images.remove('notes.txt');
  });
  t.equal((await runVerify(['--repair'])).code, 0);
});

t.test('changes nothing in stores of different installations', async (t) => {
  let id = '';
  let orphan = '';
  await changeStores(async (stores) => {
    orphan = await createFixtures(stores).storeImage();
    id = (await stores.db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
    await stores.db.updateTable('installation').set({ id: randomUUID() }).execute();
  });
  const { code, stdout, stderr } = await runVerify(['--repair']);
  t.same([code, stdout], [2, '']);
  t.match(stderr, /^The image store \(\w+\) belongs to another PostgreSQL\n$/);

  const { db, images, close } = await openBareStores(readConfig(environment).stores, silentLog);
  const image = await images.get(orphan);
  t.ok(image, 'the orphan is still stored');
  image?.stream.destroy();
  await images.remove(orphan);
  await db.updateTable('installation').set({ id }).execute();
  await close();
});

// The other commands that open the stores run the same code.
t.test('prints one line if it cannot run', async (t) => {
  const running = await startTestService(t, { DATA_DIR: await freshDataDirectory(t) });
  const unavailable = {
    DATABASE_URL: 'postgres://somebody:hush@127.0.0.1:1/nowhere',
    TOKEN_KEYS: 'one:4c1d9e7b03f86a52e0b7d4916fc3a825',
    LOG_LEVEL: 'silent',
  };
  const empty = { DATA_DIR: await temporaryDirectory(t) };
  await openBareStores(readConfig(empty).stores, silentLog).then(({ close }) => close());
  const refused: [options: string[], variables: NodeJS.ProcessEnv, line: RegExp][] = [
    [[], {}, /^\S+ does not contain a database\n$/],
    [[], empty, /^These stores are not set up: start the service first\n$/],
    [[], { TOKEN_TTL: 'soon' }, /^TOKEN_TTL: [^\n]+\n$/],
    [[], running.environment, /^\S+ is in use by process \d+ of this service: stop it first, [^\n]+\n$/],
    [[], unavailable, /^The postgres store is not available: connect ECONNREFUSED [^\n]*\n$/],
  ];
  for (const [options, variables, line] of refused) {
    const { code, stdout, stderr } = await runVerify(options, { DATA_DIR: await temporaryDirectory(t), ...variables });
    t.same([code, stdout], [2, '']);
    t.match(stderr, line);
    t.notMatch(stderr, /hush/);
  }
});
