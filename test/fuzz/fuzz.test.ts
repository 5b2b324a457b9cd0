import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import t from 'tap';
import { violations } from '../../scripts/contract-test/client/index.js';
import { sendByHttp, toTestResponse } from '../support/http.js';
import { isAlive, runCommand, startProcess } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { createRandom } from '../support/random.js';
import { secretsIn } from '../support/secrets.js';
import { LONG_TIMEOUTS, picture } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { registerWith } from '../support/users.js';
import { type FuzzRequest, randomRequest } from './requests.js';

/*
 * Sends broken forms and bytes that are not valid HTTP to its own service. Reports 5xx responses, crashes, violations of the
 * contract and leaked data of a private account. At the end it checks that this account is unchanged and that the stores are
 * consistent.
 *
 *   npm test -- test/fuzz                                   4000 requests
 *   npm test -- test/fuzz --test-arg=--requests=1000000     a long run
 *   SEED=… npm test -- test/fuzz --test-arg=--from=4711 --test-arg=--requests=1      one request of an earlier run
 */

t.setTimeout(0);

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '4000' }, from: { type: 'string', default: '0' } },
});
const seed = process.env.SEED || Math.random().toString(36).slice(2);
const [first, count] = [Number(values.from), Number(values.requests)];
t.ok(Number.isInteger(first) && count > 0, `SEED=${seed}, requests ${first} to ${first + count - 1}`);

const CONCURRENCY = 64;
const RSS_MAX_MIB = 1_024;
/** The number of examples that are printed of each kind of finding. */
const EXAMPLES_MAX = 3;
/** Long enough for the service to process what it has received. */
const PAUSE_MS = 20;
const RESPONSE_TIMEOUT_MS = 20_000;
/** The times without data after which a connection is ended, and then destroyed. */
const [IDLE_MS, CLOSE_TIMEOUT_MS] = [150, 3_000];

const environment = await freshStores(t);
// Long timeouts, since slow stores on a busy machine are not a finding.
const variables = { ...LONG_TIMEOUTS, S3_TIMEOUT: '20000', ACCOUNT_FAILED_PASSWORDS_MAX: '1000000', LOG_LEVEL: 'info' };
const service = await startProcess(t, { ...variables, ...environment });
const send = (...request: [string, string, object?]) => sendByHttp(service.url, ...request);
const attacker = await registerWith(send);
const owner = await registerWith(send, 'Teal-Lantern.58!');
const HIDDEN = 'unmistakable hidden text';
const form = { title: HIDDEN, text: HIDDEN, image: picture() };
const { body: hidden } = await send('POST', '/posts/create', { token: owner.token, form });
await send('PUT', '/profiles/me', { token: owner.token, form: { private: 'true', image: picture() } });
const secrets = [HIDDEN, 'Teal-Lantern.58!', owner.email];

/** Returns all data of the private account, to compare it before and after. */
async function snapshot(): Promise<string[]> {
  const paths = ['/auth/me', '/profiles/me', '/posts/me', '/friends', `/posts/${hidden.id}`, hidden.image];
  const responses = paths.map((path) => send('GET', path, { token: owner.token }));
  return (await Promise.all(responses)).map(({ status, bytes }) => `${status} ${bytes.toString('base64')}`);
}
const before = await snapshot();

/** Sends bytes, which need not be valid HTTP, on a new connection, and returns all bytes received. */
async function sendRaw({ bytes, pauseAfter, isComplete }: FuzzRequest): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname)
    .setNoDelay()
    .on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
  });
  socket.write(bytes.subarray(0, pauseAfter));
  await sleep(pauseAfter < bytes.length ? PAUSE_MS : 0);
  socket.write(bytes.subarray(pauseAfter));
  socket.setTimeout(isComplete ? RESPONSE_TIMEOUT_MS : IDLE_MS, () => {
    socket.end();
    socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
  });
  await closed;
  return received;
}

/** Returns what is wrong with the bytes that were received for a request. */
function problemsOf({ operation, isComplete }: FuzzRequest, received: string): string[] {
  const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
  for (const status of statuses) statusCounts[status] = (statusCounts[status] ?? 0) + 1;
  const problems = statuses.filter((status) => status >= 500 && status !== 503).map((status) => `status ${status}`);
  if (secrets.some((secret) => received.includes(secret))) problems.push('hidden data in a response');
  if (!isComplete) return problems;
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const headers = new Headers(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(/: (.*)/, 2) as [string, string]),
  );
  if (statuses.length !== 1) return [...problems, `${statuses.length} responses`];
  const response = toTestResponse(statuses[0] ?? 0, headers, Buffer.from(body, 'latin1'));
  return [...problems, ...violations(operation, response).slice(0, 1)];
}

const statusCounts: Record<number, number> = {};
const findings: Record<string, { count: number; examples: object[] }> = {};

let next = first;
async function sendRequests(): Promise<void> {
  while (next < first + count && isAlive(service.child)) {
    const index = next;
    next += 1;
    const request = randomRequest(createRandom(seed, index), attacker.token, hidden.id);
    const received = await sendRaw(request);
    for (const problem of problemsOf(request, received)) {
      findings[problem] ??= { count: 0, examples: [] };
      const { examples } = findings[problem];
      findings[problem].count += 1;
      const [sent, response] = [request.bytes.toString('latin1', 0, 2_000), received.slice(0, 2_000)];
      if (examples.length < EXAMPLES_MAX) examples.push({ index, sent, pauseAfter: request.pauseAfter, response });
    }
  }
}

t.test('every response to a random request is expected', async (t) => {
  await Promise.all(Array.from({ length: CONCURRENCY }, sendRequests));
  t.comment(`Responses by status: ${JSON.stringify(statusCounts)}`);
  t.same(findings, {});
  // A few requests, as in a replay, may all be refused.
  if (count > CONCURRENCY) t.ok(statusCounts[201], 'some forms are accepted');
  t.ok(isAlive(service.child), 'the service is running', { output: service.output().slice(-4_000) });
});

t.test('afterwards, the log contains no secrets, and the stores are intact', async (t) => {
  t.same(secretsIn(service.output(), secrets), [], 'the log contains no secrets');
  if (!isAlive(service.child)) return;
  const rssBytes = (await scrape(service.opsUrl)).value('process_resident_memory_bytes');
  t.ok(Number(rssBytes) <= RSS_MAX_MIB * 2 ** 20, `an RSS of ${rssBytes} bytes is at most ${RSS_MAX_MIB} MiB`);
  t.same(await snapshot(), before, 'the private account is unchanged');
  t.equal(await service.end('SIGTERM'), 0, 'the service exits with 0');
  const { code, output } = await runCommand(t, ['verify/index'], environment);
  t.equal(code, 0, 'the stores are consistent', { output });
});
