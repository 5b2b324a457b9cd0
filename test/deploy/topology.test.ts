import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { png, samples } from '../../scripts/contract-test/client/index.js';
import { pngChunk } from '../../scripts/support/png.js';
import { sendByHttp, sessionCookieOf } from '../support/http.js';
import { type KnownPost, startLoad } from '../support/load.js';
import { isAlive, type ServiceProcess } from '../support/processes.js';
import { repeat } from '../support/store-fixtures.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { PASSWORD, type RegisteredUser, registerWith } from '../support/users.js';
import { createClient, type Send, sendByHttp2 } from './client.js';
import { startLoadBalancer } from './load-balancer.js';
import { buildPreviousVersion } from './previous-version.js';
import { createRollingRestart } from './rolling-restart.js';
import { needsDeployment, startTopology, type Topology } from './topology.js';

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** The maximum number of times that a client sends a write, and the wait before each repetition. */
const MAX_ATTEMPTS = 20;
const RETRY_DELAY_MS = 250;

/** Far more than the service reads before it responds. Node's HTTP/2 client can send at most 10 MB in one piece. */
const BYTES_FAR_OVER_LIMIT = 9 * 1024 * 1024;

/** Returns a PNG of this size. */
const pngOf = (bytes: number) => png(pngChunk('prVt', Buffer.alloc(bytes - samples.png.length - 12)));

const formWith = (image: Buffer) => ({
  title: 'A title',
  text: 'A text',
  image: new Blob([image], { type: 'image/png' }),
});

/** The number of requests to a process of the previous version before it is replaced. The contract tests send several thousand. */
const REQUESTS_BEFORE_UPGRADE = 400;

/** Caddy itself responds to a URL that it cannot decode. The contract tests of the previous version do not skip the rule. */
const REFUSED_BY_PROXY = ['http.errors.undecodable-url'];

/**
 * Rules of the previous version about the document, of which each process serves that of its own version, and about what has
 * changed: a part without a type is text, images with stray bytes are cleaned and may have more pixels, `Link` depends on the
 * newest post, and a missing token has another message.
 */
const CHANGED_BY_UPGRADE = [
  ...['document.json', 'document.yaml', 'http.docs.compressed', 'http.head.document', 'http.head.like-get'],
  ...['uploads.type', 'uploads.metadata', 'uploads.dimensions', 'images.upload.dimensions', 'fields.codes.forms'],
  'auth.credentials.refused',
];

/** More rules than this must pass. Only rules that do not apply behind the proxy, or with these limits, may be skipped. */
const MIN_PASSED_RULES = 600;

/** The last byte of the last client's address. */
let lastAddress = 1;

function newAddress(): string {
  lastAddress += 1;
  return `127.0.21.${lastAddress}`;
}

/** Returns a client with its own address, and so its own rate limits. */
const newClient = (t: Test, topology: Topology) => createClient(t, topology, newAddress());

/**
 * Returns a function that sends a user's requests. A write is repeated, up to `MAX_ATTEMPTS` times, until it has a response
 * other than 5xx. All writes are idempotent, a new post by its key. After each write, a read is sent once, which must succeed.
 */
function persistentSender(t: Test, client: Send, token: string): RegisteredUser['send'] {
  return async (method, path, options) => {
    const key = path === '/posts/create' && { headers: { 'Idempotency-Key': randomUUID() } };
    for (let attempt = 1; method !== 'GET'; attempt += 1) {
      const response = await client(method, path, { token, ...options, ...key }).catch(() => undefined);
      // The key of a request whose process was killed may still be locked.
      if (response && response.status < 500 && !(key && response.status === 409)) {
        if (key) t.equal(response.status, 201, path);
        t.equal((await client('GET', '/posts?limit=5', { token })).status, 200, `a read after ${method} ${path}`);
        return response;
      }
      if (attempt === MAX_ATTEMPTS) throw new Error(`${method} ${path} failed ${attempt} times`);
      await sleep(RETRY_DELAY_MS);
    }
    return client(method, path, { token });
  };
}

/** The last health check may have been before the processes listened. The proxy then retries a GET, but not a POST. */
const untilServed = (send: Send) => until(async () => (await send('GET', '/auth/me')).status === 401);

/**
 * Returns a function that sends each request of a user once, and records those that fail: without a response, with a server
 * error, or because the token is refused.
 */
const recordingSender =
  (client: Send, user: { token: string }, failures: unknown[]): RegisteredUser['send'] =>
  async (method, path, options) => {
    try {
      const response = await client(method, path, { token: user.token, ...options });
      if (response.status >= 500 || response.status === 401)
        failures.push([method, path, response.status, response.headers.get('x-request-id')]);
      return response;
    } catch (error) {
      failures.push([method, path, error]);
      throw error;
    }
  };

t.test('two processes behind the proxy', needsDeployment, async (t) => {
  const topology = await startTopology(t, { RATE_LIMIT_MAX: '1000000' });
  const processes = [await topology.start(0), await topology.start(1)];
  const send = await newClient(t, topology);
  await untilServed(send);
  const { email, token } = await registerWith(send);

  t.test('cookies are Secure, although the service is configured without an https URL', async (t) => {
    const login = await send('POST', '/auth/login', { json: { email, password: PASSWORD } });
    const cookie = sessionCookieOf(login);
    t.equal(cookie?.secure, true);
    t.equal((await send('GET', '/auth/me', { headers: { Cookie: `fc_session_token=${cookie?.value}` } })).status, 200);
  });

  t.test('each response has the id of its request in the log of one process', async (t) => {
    const { headers } = await send('GET', '/auth/me', { token });
    const id = headers.get('x-request-id') ?? '';
    t.match(id, /^[\da-f-]{36}$/);
    await until(() => processes.some(({ output }) => output().includes(id)));
    t.pass('one process has logged the id');
  });

  t.test('the proxy reports its metrics', async (t) => {
    t.match(await (await fetch(topology.metricsUrl)).text(), /^process_start_time_seconds /m);
  });

  const balancer = await startLoadBalancer(t, topology);
  const newBalancedClient = (): Send => {
    const localAddress = newAddress();
    return (method, path, options) => sendByHttp(balancer, method, path, { ...options, localAddress });
  };
  for (const [where, connect] of [
    ['', () => newClient(t, topology)],
    [', behind a load balancer', newBalancedClient],
  ] as const)
    t.test(`limits count by the address of the client${where}, and a forged header changes nothing`, async (t) => {
      const client = await connect();
      const login = (forged: string) =>
        client('POST', '/auth/login', {
          json: { email: 'nobody@people.example', password: 'wrong' },
          headers: { 'X-Forwarded-For': forged, Forwarded: `for=${forged}`, 'X-Real-IP': forged },
        });
      const first = await login('203.0.113.1');
      const limit = Number(first.headers.get('x-ratelimit-limit'));
      t.equal(Number(first.headers.get('x-ratelimit-remaining')), limit - 1, 'other addresses are counted separately');
      for (let requests = 1; requests < limit; requests += 1) await login(`203.0.113.${requests + 1}`);
      t.equal((await login('203.0.113.99')).status, 429);
      const other = await connect();
      const { status, headers } = await other('POST', '/auth/login', { json: { email, password: PASSWORD } });
      t.equal(status, 200, 'another client is not affected');
      t.match(headers.get('set-cookie'), /; Secure/);
    });

  t.test('browsers must use https, whatever the response', async (t) => {
    for (const path of ['/docs', '/none', '/%ff'])
      t.equal((await send('GET', path)).headers.get('strict-transport-security'), 'max-age=31536000', path);
  });

  t.test('by HTTP/1.1 and HTTP/2, the service accepts an image of 5 MiB, and refuses a larger one', async (t) => {
    const responses = [sendByHttp2.bind(undefined, topology), send].map(async (send) => {
      const accepted = await send('POST', '/posts/create', { token, form: formWith(pngOf(MAX_IMAGE_BYTES)) });
      t.equal(accepted.status, 201);
      for (const bytes of [MAX_IMAGE_BYTES + 1, BYTES_FAR_OVER_LIMIT]) {
        const refused = await send('POST', '/posts/create', { token, form: formWith(pngOf(bytes)) });
        t.equal(refused.status, 413);
        t.match(refused.body, { code: 'file_too_large', message: String });
      }
    });
    await Promise.all(responses);
  });

  t.test('a process that hangs gets no more requests', async (t) => {
    processes[0]?.child.kill('SIGSTOP');
    let answered = 0;
    await until(async () => {
      // While the process is in the rotation, it gets about every second request.
      const request = send('GET', '/auth/me', { token, signal: AbortSignal.timeout(1000) });
      const isAnswered = await request.then(({ status }) => status === 200).catch(() => false);
      answered = isAnswered ? answered + 1 : 0;
      return answered === 10;
    });
    t.pass('ten requests in a row were answered by the other process');
    processes[0]?.child.kill('SIGCONT');
  });

  t.test('when a process is killed, reads succeed, and retried writes are neither lost nor repeated', async (t) => {
    const users = await repeat(4, async () => {
      const client = await newClient(t, topology);
      const { id, token } = await registerWith(client);
      return { id, send: persistentSender(t, client, token) };
    });
    const { posts, untilMoreCreated, stop } = startLoad(users);
    for (const index of [0, 1] as const) {
      await untilMoreCreated(6);
      t.equal(await processes[index]?.end('SIGKILL'), 'SIGKILL');
      await untilMoreCreated(6);
      processes[index] = await topology.start(index);
    }
    await untilMoreCreated(6);
    await stop();
    const pages = await Promise.all(users.map(({ send }) => send('GET', '/posts/me?limit=100')));
    const titlesOf = (list: Iterable<KnownPost>) => Array.from(list, ({ title }) => title).sort();
    t.same(
      titlesOf(pages.flatMap(({ body }) => body)),
      titlesOf(posts),
      'no post is missing, and none was created twice',
    );
  });

  t.test('without any process, the response has the shape of the contract', async (t) => {
    await Promise.all(processes.map((process) => process.end('SIGKILL')));
    const { status, headers, body } = await send('GET', '/auth/me', { token });
    t.equal(status, 503);
    t.equal(headers.get('retry-after'), '5');
    t.match(body, { code: 'store_unavailable', message: String });
  });
});

t.test('rolling restarts', needsDeployment, async (t) => {
  const previous = await buildPreviousVersion(t);

  t.test('an upgrade, a restart and a rotation of the token keys fail no request', async (t) => {
    const [oldKey, newKey] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('hex')}`);
    const variables: NodeJS.ProcessEnv = { RATE_LIMIT_MAX: '1000000', TOKEN_KEYS: oldKey };
    const topology = await startTopology(t, variables);
    const entry = 'skip' in previous ? undefined : entryOf(previous.directory, 'start');
    const processes = [topology.start(0, entry), topology.start(1, entry)];
    await Promise.all(processes);
    await untilServed(await newClient(t, topology));
    const restart = await createRollingRestart(t, topology, processes);
    const failures: unknown[] = [];
    const users = await repeat(4, async () => {
      const client = await newClient(t, topology);
      const user = await registerWith(client);
      return Object.assign(user, { send: recordingSender(client, user, failures) });
    });
    const { untilMoreCreated, stop } = startLoad(users);
    const logInAgain = () => Promise.all(users.map(async (user) => Object.assign(user, { token: await user.login() })));
    for (const [step, TOKEN_KEYS, next] of [
      ['the upgrade', oldKey],
      ['a restart with the new key after the old one', `${oldKey},${newKey}`],
      ['a restart with the new key before the old one', `${newKey},${oldKey}`, logInAgain],
      ['a restart without the old key', newKey],
    ] as const) {
      await untilMoreCreated(6);
      Object.assign(variables, { TOKEN_KEYS });
      await restart();
      t.same(failures.splice(0), [], step);
      await next?.();
    }
    await untilMoreCreated(6);
    await stop();
    t.same(failures, []);
  });

  t.test('an upgrade from the previous version breaks no rule of the contract', async (t) => {
    if ('skip' in previous) return t.plan(0, previous.skip);
    // Low enough that a rule can exceed the limit within a window, even on a busy machine.
    const limits = { RATE_LIMIT_STRICT_MAX: '200', RATE_LIMIT_MAX: '1000', RATE_LIMIT_WINDOW: '8' };
    const topology = await startTopology(t, limits);
    const entry = entryOf(previous.directory, 'start');
    const old = [await topology.start(0, entry), await topology.start(1, entry)];

    // The contract tests of the previous version, whose clients must not notice the upgrade.
    const report = join(await temporaryDirectory(t), 'report.json');
    const contractTest = entryOf(previous.directory, 'contract-test/index');
    const skipped = [...REFUSED_BY_PROXY, ...CHANGED_BY_UPGRADE];
    const options = ['--base-url', topology.url, '--json', report, ...skipped.flatMap((id) => ['--skip', id])];
    const tests = spawn(process.execPath, [contractTest, ...options], {
      env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: topology.certificate },
      stdio: 'ignore',
    });
    t.teardown(() => tests.kill('SIGKILL'));
    const ended = once(tests, 'exit');
    for (const [index, process] of old.entries()) {
      const goal = countRequests(process) + REQUESTS_BEFORE_UPGRADE;
      await until(() => countRequests(process) >= goal || !isAlive(tests));
      t.equal(await process.end('SIGTERM'), 0, 'the old process completes its requests');
      await topology.start(index);
    }
    t.equal(tests.exitCode, null, 'the contract tests ran during the whole upgrade');
    await ended;
    const { rules } = JSON.parse(await readFile(report, 'utf8')) as { rules: { id: string; verdict: string }[] };
    const broken = rules.filter(({ verdict }) => verdict !== 'passed' && verdict !== 'skipped');
    t.same(broken, [], `none of ${rules.length} rules is broken`);
    t.ok(rules.filter(({ verdict }) => verdict === 'passed').length > MIN_PASSED_RULES, 'most rules were checked');
  });
});

/** Returns the path of a built command in another checkout. */
const entryOf = (directory: string, name: string) => join(directory, '.build', 'scripts', `${name}.js`);

const countRequests = ({ output }: ServiceProcess) => output().split('"msg":"request"').length - 1;
