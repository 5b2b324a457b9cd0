import { once } from 'node:events';
import t, { type Test } from 'tap';
import { migrations } from '../../db/postgres/migrations/index.js';
import { runCommand, spawnService } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import {
  emptyGraph,
  freshDataDirectory,
  freshStores,
  inDatabase,
  inGraph,
  onServices,
  temporaryDirectory,
} from '../support/stores.js';

const needsServices = onServices ? false : 'needs the real servers that npm run test:services starts';

const migrate = (t: Test, environment: NodeJS.ProcessEnv) => runCommand(t, ['migrate'], environment);

const applied = Object.keys(migrations).map((name) => `${name} applied\n`);

t.test('each migration is named as it is applied, once', async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: applied.join('') });
  t.same(await migrate(t, { DATA_DIR }), { code: 0, output: 'up to date\n' });
  const service = await startTestService(t, { DATA_DIR });
  t.equal((await service.createUser()).id, 1);
});

t.test('what an operator can mend is said in one line', async (t) => {
  const DATA_DIR = await freshDataDirectory(t);
  const running = await startTestService(t, { DATA_DIR });
  for (const [environment, line] of [
    [{ DATA_DIR }, /^\S+ is in use by another process of this service\n$/],
    [{ DATA_DIR, TOKEN_TTL: 'soon' }, /^TOKEN_TTL: [^\n]+\n$/],
  ] as const) {
    const { code, output } = await migrate(t, environment);
    t.equal(code, 1);
    t.match(output, line);
  }
  await running.stop();
});

/** Real stores in which nothing has ever been made. */
async function untouched(t: Test): Promise<NodeJS.ProcessEnv & { DATABASE_URL: string }> {
  const stores = await freshStores(t);
  const DATABASE_URL = stores.DATABASE_URL ?? '';
  await inDatabase(DATABASE_URL, 'drop schema public cascade; create schema public');
  await emptyGraph();
  for (const { name } of await inGraph('SHOW CONSTRAINTS YIELD name')) await inGraph(`DROP CONSTRAINT \`${name}\``);
  return { ...stores, DATABASE_URL };
}

/** The schema is whole, there is one installation, and both other stores bear its mark. */
async function isMigrated(t: Test, { DATABASE_URL }: { DATABASE_URL: string }) {
  const { rows } = await inDatabase(DATABASE_URL, 'select name from kysely_migration order by name');
  t.same(
    rows.map(({ name }) => name),
    Object.keys(migrations),
  );
  const { rows: installations } = await inDatabase(DATABASE_URL, 'select id::text, graph, images from installation');
  t.match(installations, [{ graph: 'neo4j', images: 's3' }]);
  const constraints = (await inGraph('SHOW CONSTRAINTS YIELD name')).map(({ name }) => name);
  for (const name of ['person_id', 'post_id']) t.ok(constraints.includes(name), `${name} is there`);
  t.same(await inGraph('MATCH (i:Installation) RETURN i.id AS id'), [{ id: installations[0].id }]);
}

t.test(
  'ten migrations at once on empty servers: each succeeds, each step is taken once',
  { skip: needsServices },
  async (t) => {
    const stores = await untouched(t);
    const runs = await Promise.all(Array.from({ length: 10 }, () => migrate(t, stores)));
    t.same(
      runs.map(({ code }) => code),
      Array(10).fill(0),
      { output: runs.map(({ output }) => output) },
    );
    const said = runs.flatMap(({ output }) => output.split('\n')).filter((line) => line.endsWith(' applied'));
    t.same(said.map((line) => `${line}\n`).sort(), applied);
    await isMigrated(t, stores);
  },
);

t.test('ten starts at once on empty servers: each serves', { skip: needsServices }, async (t) => {
  const stores = await untouched(t);
  const services = Array.from({ length: 10 }, () => spawnService(t, stores));
  for (const { child, output } of services) {
    while (child.exitCode === null && !/Data +\S+\n/.test(output()))
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    t.match(output(), /API +http/);
  }
  await isMigrated(t, stores);
  const ends = services.map(async ({ child }) => {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    return code;
  });
  t.same(await Promise.all(ends), Array(10).fill(0));
});

t.test('a server that is away is said in one line, without its password', { skip: needsServices }, async (t) => {
  const stores = await freshStores(t);
  const away = { ...stores, DATABASE_URL: 'postgres://somebody:Secret-Word@127.0.0.1:9/none' };
  const { code, output } = await migrate(t, { ...away, LOG_LEVEL: 'silent' });
  t.equal(code, 1);
  t.match(output, /^The postgres store is not available[^\n]*\n$/);
  t.notMatch(output, 'Secret-Word');
});
