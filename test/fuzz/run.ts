import { parseArgs } from 'node:util';
import t from 'tap';
import { operationFor, violations } from '../../scripts/contract-test/client/index.js';
import { isAlive, runCommand, startProcess } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { createRandom } from '../support/random.js';
import type { TestResponse } from '../support/requests.js';
import { secretsIn } from '../support/secrets.js';
import { LONG_TIMEOUTS } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { sendComplete, sendRaw } from './connection.js';
import { createFixture } from './fixture.js';
import { type FuzzRequest, randomRequest } from './requests.js';

/*
 * Fuzzer: sends random operations with random input, and bytes that are not valid HTTP, to its own service. Reports 5xx
 * responses, crashes, violations of the contract and leaked data of a private account. At the end it checks that this
 * account is unchanged and that the stores are consistent.
 *
 *   npm run test:fuzz                            4000 requests
 *   npm run test:fuzz -- --requests 1000000      a long run
 *   SEED=… npm run test:fuzz -- --from 4711 --requests 1      one request of an earlier run
 */

t.setTimeout(0);

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '4000' }, from: { type: 'string', default: '0' } },
});
const seed = process.env.SEED || Math.random().toString(36).slice(2);
const [first, count] = [Number(values.from), Number(values.requests)];
t.ok(Number.isInteger(first) && count > 0, `SEED=${seed}, requests ${first} to ${first + count - 1}`);

const CONCURRENCY = 64;
const REFRESH_EVERY_REQUESTS = 500;
const RSS_MAX_MIB = 1_024;
/** The number of examples that are kept of each kind of finding. */
const EXAMPLES_MAX = 3;

const environment = await freshStores(t);
// Long timeouts, since slow stores on a busy machine are not a finding.
const variables = { ...LONG_TIMEOUTS, S3_TIMEOUT: '20000', ACCOUNT_FAILED_PASSWORDS_MAX: '1000000', LOG_LEVEL: 'info' };
const service = await startProcess(t, { ...variables, ...environment });
const isRunning = () => isAlive(service.child);
const { fixture, secrets, refresh, snapshot } = await createFixture(service.url);
const before = await snapshot();

const statuses: Record<string, number> = {};
const findings: Record<string, { count: number; examples: object[] }> = {};

const printable = (bytes: Buffer) => bytes.toString('latin1', 0, 2_000);

function report(kind: string, index: number, { bytes, pauseAfter }: FuzzRequest, response?: Buffer): void {
  findings[kind] ??= { count: 0, examples: [] };
  const { examples } = findings[kind];
  findings[kind].count += 1;
  if (examples.length < EXAMPLES_MAX) {
    examples.push({ index, request: printable(bytes), pauseAfter, response: response && printable(response) });
  }
}

function checkLeaks(index: number, request: FuzzRequest, received: Buffer): void {
  if (secrets.some((secret) => received.includes(secret)))
    report('hidden data in a response', index, request, received);
  // The fuzzer's own texts contain a hash, with a shorter salt.
  if (!request.bytes.includes('argon2') && /\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{20}/.test(`${received}`)) {
    report('a password hash in a response', index, request, received);
  }
}

/** Reports a server error. A 503 is allowed, if it has Retry-After. `headers` are undefined if the response was not parsed. */
function checkStatus(index: number, request: FuzzRequest, status: number, headers?: Headers, received?: Buffer): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
  if (status === 503 && (headers === undefined || headers.has('retry-after'))) return;
  if (status >= 500) report(`status ${status}`, index, request, received);
}

function checkContract(index: number, request: FuzzRequest, response: TestResponse): void {
  const { method, path } = request;
  // Undecodable paths and oversized headers are refused before routing.
  if (path.includes('%') || response.status === 431) return;
  const operation = operationFor(method === 'HEAD' ? 'GET' : method, path);
  if (!operation) return;
  const [found] = violations(operation, response, { hasBody: method !== 'HEAD' });
  if (found !== undefined) {
    report(`contract violation by ${operation.id}: ${found.slice(0, 120)}`, index, request, response.bytes);
  }
}

async function tryRequest(index: number): Promise<void> {
  const request = randomRequest(createRandom(seed, index), fixture);
  if (!request.complete) {
    const received = await sendRaw(service.url, request);
    checkLeaks(index, request, received);
    for (const [, status] of received.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
      checkStatus(index, request, Number(status), undefined, received);
    }
    return;
  }
  const response = await sendComplete(service.url, request).catch((error: Error & { code?: string }) => {
    report(`${error.code ?? error.name}: ${error.message}`, index, request);
    return undefined;
  });
  if (!response) return;
  checkStatus(index, request, response.status, response.headers, response.bytes);
  checkLeaks(index, request, response.bytes);
  checkContract(index, request, response);
}

let next = first;
let refreshing: Promise<void> | undefined;
async function sendRequests(): Promise<void> {
  while (next < first + count && isRunning()) {
    const index = next;
    next += 1;
    if (index % REFRESH_EVERY_REQUESTS === 0) refreshing = refresh();
    await refreshing;
    await tryRequest(index);
  }
}

t.test('every response to a random request is expected', async (t) => {
  await Promise.all(Array.from({ length: CONCURRENCY }, sendRequests));
  t.comment(`Responses by status: ${JSON.stringify(statuses)}`);
  t.same(findings, {});
  // A few requests, as in a replay, may all be refused.
  if (count > CONCURRENCY) t.ok(Number(statuses[200]) > 0, 'some requests succeed');
  t.ok(isRunning(), 'the service is running', { output: service.output().slice(-4_000) });
});

t.test('afterwards, the log contains no secrets, and the stores are intact', async (t) => {
  t.same(secretsIn(service.output(), secrets), [], 'the log contains no secrets');
  if (!isRunning()) return;
  const rssBytes = (await scrape(service.opsUrl)).value('process_resident_memory_bytes');
  t.ok(Number(rssBytes) <= RSS_MAX_MIB * 2 ** 20, `an RSS of ${rssBytes} bytes is at most ${RSS_MAX_MIB} MiB`);
  t.equal(await snapshot(), before, 'the private account is unchanged');
  t.equal(await service.end('SIGTERM'), 0, 'the service exits with 0');
  const { code, output } = await runCommand(t, ['verify/index'], environment);
  t.equal(code, 0, 'the stores are consistent', { output });
});
