import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { asker, PASSWORD } from './harness.js';
import { needsNeo4j } from './neo4j-graph.js';
import { listening, spawnService, startAndFail, startProcess } from './processes.js';
import { freshStores, inDatabase, inGraph, lendGraph, needsServers, temporaryDirectory } from './stores.js';

const oneLine = /^[^\n]+\n$/;

/** With nothing else on the terminal, what a start says is the reason why it was refused. */
const MUTE = { LOG_LEVEL: 'silent' };

async function refused(t: Test, environment: NodeJS.ProcessEnv, reason: RegExp): Promise<void> {
  const { code, output } = await startAndFail(t, { ...environment, ...MUTE });
  t.equal(code, 1);
  t.match(output, oneLine);
  t.match(output, reason);
  const { password } = new URL(environment.DATABASE_URL ?? '');
  for (const secret of [password, environment.NEO4J_PASSWORD, environment.AWS_SECRET_ACCESS_KEY]) {
    if (secret) t.notMatch(output, secret, 'no secret is told');
  }
}

/** A database that no process has ever seen. */
async function emptyDatabase(t: Test, beside: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await inDatabase(beside, `create database ${name}`);
  t.teardown(() => inDatabase(beside, `drop database ${name} with (force)`));
  const url = new URL(beside);
  url.pathname = name;
  return url.href;
}

t.test('ten processes start at once on stores that are empty, and all serve', needsServers, async (t) => {
  const { DATABASE_URL: beside = '', ...others } = await freshStores(t);
  if (others.NEO4J_URI) await inGraph('MATCH (i:Installation) DELETE i');
  const environment = { ...others, DATABASE_URL: await emptyDatabase(t, beside) };
  const services = await Promise.all(Array.from({ length: 10 }, () => listening(spawnService(t, environment))));
  await Promise.all(
    services.map(async ({ url, opsUrl }, index) => {
      t.equal((await fetch(`${opsUrl}/readyz`)).status, 200);
      const json = { name: 'Some Body', username: `u${index}`, email: `u${index}@people.example`, password: PASSWORD };
      t.equal((await asker(t, url)('POST', '/auth/register', { json })).status, 201);
    }),
  );
  const { rows } = await inDatabase(environment.DATABASE_URL, 'select count(*)::int from accounts');
  t.same(rows, [{ count: 10 }], 'and all serve the same');
});

t.test('a start on stores that do not belong together is refused, and does no harm', needsServers, async (t) => {
  const [mine, theirs] = [await freshStores(t), await freshStores(t)];
  for (const environment of [theirs, mine]) {
    const service = await startProcess(t, environment);
    t.equal(await service.end('SIGTERM'), 0);
  }

  t.test('another database on the same graph', needsNeo4j, (t) =>
    refused(t, { ...theirs }, /graph .*belongs to another PostgreSQL/),
  );

  t.test('a database that is new on the same graph', needsNeo4j, async (t) => {
    const DATABASE_URL = await emptyDatabase(t, mine.DATABASE_URL ?? '');
    await refused(t, { ...mine, DATABASE_URL }, /graph .*belongs to another PostgreSQL/);
  });

  t.test('the same database without its graph', needsNeo4j, (t) =>
    refused(t, { ...mine, NEO4J_URI: '' }, /graph of kind neo4j.* embedded, is configured/),
  );

  t.test('the images of another', (t) => {
    const { DATA_DIR, S3_BUCKET } = theirs;
    return refused(t, { ...mine, DATA_DIR, ...(S3_BUCKET && { S3_BUCKET }) }, /image.*belongs to another PostgreSQL/);
  });

  t.test('an image store that is new', async (t) => {
    const fresh = await freshStores(t);
    const { DATA_DIR, S3_BUCKET } = fresh;
    return refused(t, { ...mine, DATA_DIR, ...(S3_BUCKET && { S3_BUCKET }) }, /image.* is not the one/);
  });

  t.test('a graph that is empty', needsNeo4j, async (t) => {
    await inGraph('MATCH (i:Installation) DELETE i');
    await refused(t, mine, /graph .*is not the one/);
  });

  const service = await startProcess(t, mine);
  t.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200, 'those that belong together still serve');
  t.equal(await service.end('SIGTERM'), 0);
});

t.test('a start whose store does not answer gives up, and says in one line which', needsServers, async (t) => {
  const environment = await freshStores(t);
  await lendGraph(environment);

  /** A port that takes connections and never says a word, and one where nobody listens. */
  const silent = createServer((socket) => t.teardown(() => socket.destroy())).listen(0, '127.0.0.1');
  const closed = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(silent, 'listening'), once(closed, 'listening')]);
  t.teardown(() => silent.close());
  const ports = { silent: (silent.address() as AddressInfo).port, closed: (closed.address() as AddressInfo).port };
  closed.close();

  const at = (url: string | undefined, port: number) => {
    const moved = new URL(url ?? '');
    moved.port = String(port);
    return moved.href;
  };
  for (const [how, port] of Object.entries(ports)) {
    for (const [name, reason] of [
      ['DATABASE_URL', /^The postgres store is not available/],
      ['NEO4J_URI', /^The graph store is not available/],
      ['S3_ENDPOINT', /^The images store is not available/],
    ] as const) {
      const skip = environment[name] === undefined && `needs ${name}`;
      t.test(`${name} at a ${how} port`, { skip }, async (t) => {
        const DATA_DIR = await temporaryDirectory(t);
        await refused(t, { ...environment, DATA_DIR, [name]: at(environment[name], port) }, reason);
      });
    }
  }
});
