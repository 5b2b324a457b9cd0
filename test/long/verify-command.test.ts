import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { openBareStores, type Stores } from '../../db/stores/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { script } from '../support/processes.js';
import { createFixtures, emptyStores, openStoresWithoutRelay } from '../support/store-fixtures.js';
import { claimGraphFor, silentLog, temporaryDirectory } from '../support/stores.js';

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
  t.match(stdout, /^difference +found +examples\n/);
  t.match(stdout, /^People in the graph without an account +0$/m);
  t.match(stdout, /^The outbox is empty\.$/m);
  t.match(stdout, /^The stores agree\.$/m);
  t.equal(stderr, '');
});

t.test('reports differences, repairs what it can, and reports the rest', async (t) => {
  let lost = '';
  const orphans: string[] = [];
  await changeStores(async (stores) => {
    const { account, postWithImage, storeImage, enqueueEntries } = createFixtures(stores);
    lost = (await postWithImage(await account())).image;
    await stores.images.remove(lost);
    for (let count = 0; count < 6; count += 1) orphans.push(await storeImage());
    await enqueueEntries([{ kind: 'image', key: 'f.png' }]);
  });
  const found = await runVerify();
  t.equal(found.code, 1);
  const [row = ''] = /^Stored images that nothing refers to .*$/m.exec(found.stdout) ?? [];
  t.match(row, /^\D+ 6 .*, …$/);
  t.equal(orphans.filter((name) => row.includes(name)).length, 5, 'five examples');
  t.match(found.stdout, new RegExp(`^Images that are not stored +1 +${lost}$`, 'm'));
  t.match(found.stdout, /^Changes in the outbox, which are not differences: image 1 \(1 due\)\.$/m);
  t.match(found.stdout, /^The stores disagree: repair them with DATA_DIR=\S+ npm run verify -- --repair$/m);

  const repaired = await runVerify(['--repair']);
  t.equal(repaired.code, 1, 'not everything was repaired');
  const [before = '', after = ''] = repaired.stdout.split('Repaired and compared again:');
  t.match(before, row);
  t.match(after, /^Stored images that nothing refers to +0$/m);
  t.match(after, new RegExp(`^Images that are not stored +1 +${lost}$`, 'm'));
  t.match(after, /^Images are lost: restore their files from a backup of the image store\.$/m);

  await changeStores(({ db }) => db.updateTable('posts').set({ image: null }).execute());
  const agreeing = await runVerify(['--repair']);
  t.equal(agreeing.code, 0);
  t.notMatch(agreeing.stdout, 'Repaired', 'without differences, nothing is repaired');
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
  const unavailable = {
    DATABASE_URL: 'postgres://somebody:hush@127.0.0.1:1/nowhere',
    TOKEN_KEYS: 'one:4c1d9e7b03f86a52e0b7d4916fc3a825',
    LOG_LEVEL: 'silent',
  };
  const empty = { DATA_DIR: await temporaryDirectory(t) };
  await openBareStores(readConfig(empty).stores, silentLog).then(({ close }) => close());
  const refused: [variables: NodeJS.ProcessEnv, line: RegExp][] = [
    [{}, /^\S+ does not contain a database\n$/],
    [empty, /^These stores are not set up: start the service first\n$/],
    [{ TOKEN_TTL: 'soon' }, /^TOKEN_TTL: [^\n]+\n$/],
    [{ ...unavailable, DATA_DIR: '/nowhere' }, /^\/nowhere does not exist: set DATA_DIR [^\n]+\n$/],
    [unavailable, /^The postgres store is not available: connect ECONNREFUSED [^\n]*\n$/],
  ];
  for (const [variables, line] of refused) {
    const { code, stdout, stderr } = await runVerify([], { DATA_DIR: await temporaryDirectory(t), ...variables });
    t.same([code, stdout], [2, '']);
    t.match(stderr, line);
    t.notMatch(stderr, /hush/);
  }
});
