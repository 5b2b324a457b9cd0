import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { parseLog } from './support/log.js';
import { type ReceivedSpan, type Receiver, startReceiver } from './support/otlp.js';
import { picture } from './support/picture.js';
import { spawnService, startProcess } from './support/processes.js';
import { createPost, LONG_TIMEOUTS, PASSWORD, startTestService, type TestService } from './support/service.js';
import { freshStores, needsServers } from './support/stores.js';
import { until } from './support/until.js';

const REFUSE_OPENTELEMETRY = ['--import', './.build/test/support/refuse-opentelemetry.js'];

/** A proxy that is trusted to continue traces. The tests connect from 127.0.0.1. */
const TRUSTED = { TRUST_PROXY: '127.0.0.1' };

/** The trace that a request arrives with. */
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER_ID = 'b7ad6b7169203331';
const traceparent = (flags: '00' | '01', traceId = TRACE_ID) => ({
  traceparent: `00-${traceId}-${CALLER_ID}-${flags}`,
});

const variablesFor = ({ url }: Pick<Receiver, 'url'>) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '20',
  PUBLIC_URL: 'https://api.example',
  ...LONG_TIMEOUTS,
});

/** Starts a service in this process that exports to the receiver. The SDK reads its variables from this process. */
async function startTraced(
  t: Test,
  receiver: Pick<Receiver, 'url'>,
  variables: NodeJS.ProcessEnv = {},
): Promise<TestService> {
  const environment = { ...variablesFor(receiver), ...variables };
  const sdkVariables = Object.entries(environment).filter(([name]) => name.startsWith('OTEL_'));
  for (const [name, value] of sdkVariables) process.env[name] = value;
  try {
    return await startTestService(t, environment);
  } finally {
    for (const [name] of sdkVariables) delete process.env[name];
  }
}

const childrenOf = ({ spans }: Pick<Receiver, 'spans'>, { spanId }: ReceivedSpan) =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

const namesOf = (spans: readonly ReceivedSpan[]) => spans.map(({ name }) => name);

const serverSpans = ({ spans }: Receiver) => spans.filter(({ kind }) => kind === 'server');

/** Starts a service in another process that exports to the receiver. */
const startTracedProcess = async (t: Test, receiver: Receiver, variables: NodeJS.ProcessEnv = {}) =>
  startProcess(t, { ...(await freshStores(t)), ...variablesFor(receiver), ...variables });

/** Returns the only span of a request with this name. */
function requestSpan(receiver: Receiver, name: string): ReceivedSpan {
  const [span, ...more] = serverSpans(receiver).filter((span) => span.name === name);
  if (!span || more.length > 0) throw new Error(`Expected one span ${name}`);
  return span;
}

const linesOf = (log: string, message: string) => parseLog(log).filter(({ msg }) => msg === message);

t.test('a request has one span, named by its operation, and its store calls are beneath it', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTraced(t, receiver, {
    // An hour, so that only the shutdown exports spans.
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    OTEL_SERVICE_NAME: 'another-name',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=test-key',
  });
  const user = await service.createUser();
  const post = await createPost(user, { image: picture() });
  await user.send('POST', `/posts/like?id=${post.id}`);
  await user.send('GET', '/unknown');
  await user.send('GET', '/openapi.yaml');
  t.equal(receiver.bodies.length, 0);
  await service.stop();

  t.same(namesOf(serverSpans(receiver)).sort(), ['GET', 'GET /openapi.yaml', 'createPost', 'likePost']);
  const create = requestSpan(receiver, 'createPost');
  t.same(create.attributes, {
    'http.request.method': 'POST',
    'http.route': '/posts/create',
    'http.response.status_code': 201,
    'url.scheme': 'https',
    'server.address': 'api.example',
    'server.port': 443,
    'network.protocol.version': '1.1',
  });
  t.match(create, { kind: 'server', parentSpanId: '', isError: false, links: [] });
  t.match(create.resource, {
    'service.name': 'another-name',
    'service.instance.id': /^[0-9a-f-]{36}$/,
    'deployment.environment.name': 'test',
  });
  t.equal(receiver.headers()['api-key'], 'test-key');

  const [session] = childrenOf(receiver, create).filter(({ name }) => name === 'session');
  t.match(session && childrenOf(receiver, session), [
    {
      name: 'query postgres',
      kind: 'client',
      attributes: { 'db.system.name': 'postgresql', 'db.operation.name': 'query' },
    },
  ]);
  const put = childrenOf(receiver, create).find(({ name }) => name === 'put images');
  t.match(put, { attributes: { 'db.operation.name': 'put' } });
  const [setLike] = childrenOf(receiver, requestSpan(receiver, 'likePost')).filter(({ name }) => name === 'setLike');
  t.ok(setLike && childrenOf(receiver, setLike).some(({ name }) => name === 'like graph'), 'also within a transaction');
  for (const span of receiver.spans) {
    const parent = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
    if (span.kind === 'server') continue;
    t.equal(parent?.traceId, span.traceId, 'a span outside of requests is not exported');
    if (parent) t.ok(parent.startNs <= span.startNs && span.startNs <= span.endNs, 'times are consistent');
  }
});

t.test('a failed store call marks its span, its batch and its request as errors, without the message', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTraced(t, receiver);
  const user = await service.createUser();
  await service.stores.db.schema.alterTable('posts').renameTo('hidden_posts').execute();
  t.equal((await user.send('GET', '/posts/1')).status, 500);
  await service.stop();
  const failed = receiver.spans.filter(({ isError }) => isError);
  t.same(namesOf(failed).sort(), ['getPost', 'postIfPublicOrOwn', 'query postgres']);
  t.equal(failed.find(({ name }) => name === 'getPost')?.attributes['error.type'], '500');
  t.equal(failed.find(({ name }) => name === 'query postgres')?.attributes['error.type'], 'error');
  for (const body of receiver.bodies) t.notOk(body.includes('relation'));
});

t.test('continues the trace of a trusted proxy, which decides whether it is sampled', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTraced(t, receiver, TRUSTED);
  await service.send('GET', '/auth/me', { headers: { ...traceparent('01'), tracestate: 'vendor=state' } });
  await service.send('GET', '/posts', { headers: traceparent('00') });
  const invalid = [
    `ff-${TRACE_ID}-${CALLER_ID}-01`,
    `00-${'0'.repeat(32)}-${CALLER_ID}-01`,
    `00-${TRACE_ID}-${CALLER_ID}-01, 00-${TRACE_ID}-${CALLER_ID}-01`,
    'nonsense',
  ];
  for (const traceparent of invalid)
    t.equal((await service.send('GET', '/friends', { headers: { traceparent } })).status, 401);
  await service.stop();
  const span = requestSpan(receiver, 'getCurrentAccount');
  t.match(span, { traceId: TRACE_ID, parentSpanId: CALLER_ID, links: [] });
  t.notOk(namesOf(serverSpans(receiver)).includes('listPosts'), 'not sampled');
  const others = serverSpans(receiver).filter(({ name }) => name === 'listFriends');
  t.equal(others.length, invalid.length);
  for (const { traceId, parentSpanId, links } of others) {
    t.not(traceId, TRACE_ID);
    t.same([parentSpanId, links], ['', []]);
  }
  const lineOf = (path: string) => linesOf(service.logged(), 'request').find(({ route }) => route === path);
  t.match(lineOf('/auth/me'), { trace_id: TRACE_ID, span_id: span.spanId, trace_flags: '01' });
  t.match(lineOf('/posts'), { trace_id: TRACE_ID, span_id: /^[0-9a-f]{16}$/, trace_flags: '00' });
});

t.test('a client cannot have its requests sampled: they get a trace of their own, with a link', async (t) => {
  const receiver = await startReceiver(t);
  const sampled = await startTraced(t, receiver);
  await sampled.send('GET', '/auth/me', { headers: traceparent('01') });
  await sampled.stop();
  const span = requestSpan(receiver, 'getCurrentAccount');
  t.not(span.traceId, TRACE_ID);
  t.match(span, { parentSpanId: '', links: [{ traceId: TRACE_ID, spanId: CALLER_ID }] });
  t.equal(linesOf(sampled.logged(), 'request')[0]?.trace_id, span.traceId);

  const unsampled = await startTraced(t, receiver, {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.000001',
  });
  // The sampler would accept this id.
  await unsampled.send('GET', '/friends', { headers: traceparent('01', `${'0'.repeat(31)}1`) });
  await unsampled.stop();
  t.match(linesOf(unsampled.logged(), 'request'), [{ trace_flags: '00' }]);
  t.equal(serverSpans(receiver).length, 1);
});

/** All attributes that a span may have. Values are names from the code and the contract, numbers and statuses. */
const ATTRIBUTES: Record<string, RegExp> = {
  'http.request.method': /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|_OTHER)$/,
  'http.route': /^[a-z_/:.*]+$/i,
  'http.response.status_code': /^[2-5]\d\d$/,
  'url.scheme': /^https$/,
  'server.address': /^api\.example$/,
  'server.port': /^443$/,
  'network.protocol.version': /^1\.[01]$/,
  'error.type': /^(5\d\d|error|unavailable|connection_closed)$/,
  'db.system.name': /^[a-z0-9]+$/,
  'db.operation.name': /^[a-z]+$/i,
  'db.operation.batch.size': /^\d{1,3}$/,
};

t.test('no exported byte is personal', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTraced(t, receiver, TRUSTED);
  const user = await service.createUser({ name: 'Ada Unmistakable' });
  const [newPassword, secret] = ['Other-Lantern-81!', 'Unmistakable'];
  const headers = {
    'User-Agent': `${secret}/1.0`,
    'X-Forwarded-For': '203.0.113.77',
    'X-Forwarded-Proto': secret,
    'X-Forwarded-Host': secret,
    tracestate: `vendor=${secret}`,
    ...traceparent('01'),
  };
  const post = await createPost(user, { title: secret, text: secret, image: picture() });
  const paths = [`/posts/${post.id}`, `/posts?${secret}=1`, `/posts/image/${secret}.png`, `/${secret}`, '/%ff'];
  for (const path of [post.image ?? '', ...paths]) await user.send('GET', path, { headers });
  await service.send('POST', '/auth/login', { json: { email: user.email, password: PASSWORD }, headers });
  await service.send('POST', '/auth/register', { json: { name: secret, password: 'Half-Registered-1!' } });
  await service.send('GET', '/auth/me', { token: secret, headers: { Cookie: `fc_session_token=${secret}` } });
  await user.send('PUT', '/profiles/me', { form: { password: newPassword, current_password: PASSWORD, name: secret } });
  for (const { method, path } of contract) await service.send(method, path.replace(/\{\w+\}/, secret), { headers });
  await service.stop();

  t.ok(serverSpans(receiver).length > contract.length);
  const bytes = Buffer.concat(receiver.bodies).toString('latin1');
  for (const text of [
    ...[secret, PASSWORD, newPassword, 'Half-Registered', user.username, user.email, user.token],
    ...['people.example', '203.0.113.77', '127.0.0.1', '.png'],
  ]) {
    t.notOk(bytes.toLowerCase().includes(text.toLowerCase()), text);
  }
  const operations = new Set<string>(contract.map(({ id }) => id));
  for (const { name, attributes } of receiver.spans) {
    if (!operations.has(name) && !/^[a-zA-Z]+( [a-zA-Z/.:]+)?$/.test(name)) t.fail('an unexpected span name', { name });
    for (const [key, value] of Object.entries(attributes)) {
      if (!ATTRIBUTES[key]?.test(String(value))) t.fail('an unexpected attribute', { key, value });
    }
  }
});

t.test('a failing receiver affects no request, and is logged once per outage', async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTraced(t, receiver);
  const outages = () => linesOf(service.logged(), 'traces cannot be exported').length;
  const recoveries = () => linesOf(service.logged(), 'traces are exported again').length;
  /** Sends requests until the receiver has responded to two more exports, and `isKnown` accepts what was logged since. */
  const exportTwice = async (isKnown: () => boolean) => {
    const goal = receiver.bodies.length + 2;
    while (receiver.bodies.length < goal || !isKnown()) {
      t.equal((await service.send('GET', '/auth/me')).status, 401);
      await setImmediate();
    }
  };
  for (const outage of [1, 2]) {
    receiver.respondWith(400);
    await exportTwice(() => outages() >= outage);
    receiver.respondWith(200);
    await exportTwice(() => recoveries() >= outage);
  }
  await service.stop();
  t.same([outages(), recoveries()], [2, 2]);
  const isFromTracing = ({ level, msg }: { level: number; msg: string }) => level >= 40 && !msg.startsWith('store ');
  t.equal(parseLog(service.logged()).filter(isFromTracing).length, 2, 'the SDK itself logs nothing');
  t.match(linesOf(service.logged(), 'traces cannot be exported')[0], { level: 40, err: { code: 400 } });
});

t.test('a service without a receiver works, and warns of an invalid variable and of the failed export', async (t) => {
  const unreachable = { url: 'http://127.0.0.1:1' };
  const variables = { OTEL_EXPORTER_OTLP_TIMEOUT: '100', OTEL_TRACES_SAMPLER: 'sometimes' };
  const service = await startTraced(t, unreachable, variables);
  t.match(service.logged(), /"level":40[^\n]*OTEL_TRACES_SAMPLER value \\"sometimes\\" invalid/);
  const user = await service.createUser();
  t.equal((await createPost(user)).title, 'A title');
  await until(() => service.logged().includes('traces cannot be exported'));
});

t.test('a receiver that does not respond delays the shutdown only briefly', async (t) => {
  const receiver = await startReceiver(t);
  receiver.respondWith(undefined);
  const timeouts = { OTEL_EXPORTER_OTLP_TIMEOUT: '120000', OTEL_BSP_EXPORT_TIMEOUT: '120000' };
  const service = await startTracedProcess(t, receiver, timeouts);
  await fetch(`${service.url}/auth/me`);
  await receiver.until(() => receiver.bodies.length > 0);
  await fetch(`${service.url}/auth/me`);
  const started = performance.now();
  t.equal(await service.end('SIGTERM'), 0);
  t.ok(performance.now() - started < 60_000);
});

t.test('each worker exports its own spans', needsServers, async (t) => {
  const receiver = await startReceiver(t);
  const service = await startTracedProcess(t, receiver, { WORKERS: '2' });
  for (let count = 0; count < 10; count += 1)
    // With separate connections, the workers take turns.
    await fetch(`${service.url}/auth/me`, { headers: { Connection: 'close' } });
  t.equal(await service.end('SIGTERM'), 0);
  t.equal(serverSpans(receiver).length, 10);
  t.equal(new Set(receiver.spans.map(({ resource }) => resource['service.instance.id'])).size, 2);
});

t.test('without an endpoint no OpenTelemetry package is loaded, and logs have no trace ids', async (t) => {
  const stores = await freshStores(t);
  const variables = { ...stores, OTEL_SERVICE_NAME: 'a-name', LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
  const service = await startProcess(t, variables, REFUSE_OPENTELEMETRY);
  t.equal((await fetch(`${service.url}/auth/me`, { headers: traceparent('01') })).status, 401);
  t.equal(await service.end('SIGTERM'), 0);
  const [line] = linesOf(service.output(), 'request');
  t.match(line, { route: '/auth/me' });
  t.notOk('trace_id' in line);

  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const { child, output } = spawnService(t, { ...stores, ...endpoint }, REFUSE_OPENTELEMETRY);
  await once(child, 'close');
  t.match(output(), /refused: @opentelemetry/, 'with an endpoint they are loaded');
});
