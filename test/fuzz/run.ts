import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import pidusage from 'pidusage';
import { headViolations, violations } from '../../scripts/contract-test/conformance.js';
import { operationFor } from '../../scripts/contract-test/document.js';
import { Cleanup } from '../abuse/cleanup.js';
import { secretsIn } from '../abuse/logs.js';
import { startAbusedService } from '../abuse/service.js';
import { runCommand } from '../support/processes.js';
import { randomFor } from '../support/random.js';
import { freshStores } from '../support/stores.js';
import { Connection, sendRaw } from './connection.js';
import { createFixture, OWNER_PASSWORD } from './fixture.js';
import { type FuzzRequest, randomRequest } from './requests.js';
import type { RawResponse } from './response.js';

/*
 * Fuzzer: sends random operations with random input, and bytes that are not valid HTTP, to its own service. Reports 5xx
 * responses, crashes, violations of the contract and data of a private account. At the end it checks that this account is
 * unchanged and that the stores are consistent.
 *
 *   npm run test:fuzz                            4000 requests
 *   npm run test:fuzz -- --requests 1000000      a long run
 *   npm run test:fuzz -- --seconds 600 --requests 1000000     stops at the first of both limits
 *   SEED=… npm run test:fuzz -- --from 4711 --requests 1      one request of an earlier run
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '4000' },
    from: { type: 'string', default: '0' },
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: 'Infinity' },
  },
});
const seed = process.env.SEED || Math.random().toString(36).slice(2);
const [first, count] = [Number(values.from), Number(values.requests)];
console.log(`SEED=${seed}, requests ${first} to ${first + count - 1}`);

const REFRESH_EVERY_REQUESTS = 500;
const REPORT_INTERVAL_MS = 30_000;
const RSS_MAX_MIB = 1_024;
/** The number of printed findings of each kind. */
const PRINTED_MAX = 3;

const cleanup = new Cleanup();
const environment = await freshStores(cleanup);
// Long timeouts, since slow stores on a busy machine are not a finding.
const timeouts = { DATABASE_TIMEOUT: '30000', NEO4J_TIMEOUT: '30000', S3_TIMEOUT: '30000' };
const limits = {
  RATE_LIMIT_MAX: '1000000000',
  RATE_LIMIT_STRICT_MAX: '1000000000',
  ACCOUNT_FAILED_PASSWORDS_MAX: '1000000000',
};
const service = await startAbusedService(cleanup, { ...timeouts, ...limits, LOG_LEVEL: 'warn', ...environment });
const { fixture, marker, refresh, snapshot } = await createFixture(service.url, seed);
const before = await snapshot();

const findings = new Map<string, number>();
const statuses = new Map<string, number>();
let sent = 0;
let rssMiB = 0;

const increment = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
const printable = (bytes: Buffer) => JSON.stringify(bytes.toString('latin1', 0, 2_000));

function report(kind: string, index?: number, request?: FuzzRequest, response?: Buffer | string): void {
  increment(findings, kind);
  if ((findings.get(kind) ?? 0) > PRINTED_MAX) return;
  console.log(`\nFOUND ${kind}${index === undefined ? '' : `, request ${index}`}`);
  if (request && request.pauseAfter < request.bytes.length) console.log(`  pause    after ${request.pauseAfter} bytes`);
  if (request) console.log(`  request  ${printable(request.bytes)}`);
  if (response !== undefined)
    console.log(`  response ${typeof response === 'string' ? response : printable(response)}`);
}

/** Reports a response with secrets or with data of the private account. */
function checkHidden(index: number, request: FuzzRequest, received: Buffer): void {
  if (received.includes(marker) || received.includes(OWNER_PASSWORD))
    report('hidden data in a response', index, request, received);
  if (received.includes('$argon2id$v=19$m=19456,t=2,p=1$') && !request.bytes.includes('argon2')) {
    // The fuzzer's own texts contain a hash with a short salt.
    if (/\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{20}/.test(received.toString('latin1'))) {
      report('a password hash in a response', index, request, received);
    }
  }
}

function checkStatus(index: number, request: FuzzRequest, status: number, headers?: Headers, received?: Buffer): void {
  if (status === 503 && (headers === undefined || headers.has('retry-after'))) return;
  if (status >= 500) report(`status ${status}`, index, request, received);
}

function checkContract(index: number, request: FuzzRequest, response: RawResponse): void {
  const { method, path } = request;
  // Undecodable paths and oversized headers are refused before routing.
  if (path.includes('%') || response.status === 431) return;
  const operation = operationFor(method === 'HEAD' ? 'GET' : method, path);
  if (!operation) return;
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && response.bytes.length > 0;
  const body = isJson ? JSON.parse(response.bytes.toString()) : undefined;
  const found = (method === 'HEAD' ? headViolations : violations)(operation, { ...response, body });
  if (found[0] !== undefined) {
    report(`contract violation by ${operation.id}: ${found[0].slice(0, 120)}`, index, request, response.bytes);
  }
}

async function tryRequest(index: number, connection: Connection): Promise<void> {
  const request = randomRequest(randomFor(seed, index), fixture);
  if (!request.complete) {
    const received = await sendRaw(service.url, request);
    checkHidden(index, request, received);
    for (const [, status = ''] of received.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3})/gm)) {
      increment(statuses, status);
      checkStatus(index, request, Number(status), undefined, received);
    }
    return;
  }
  const response = await connection.send(request).catch((error: Error & { code?: string }) => {
    report(`${error.code ?? error.name}: ${error.message}`, index, request);
    return undefined;
  });
  if (!response) return;
  increment(statuses, String(response.status));
  checkStatus(index, request, response.status, response.headers, response.bytes);
  checkHidden(index, request, response.bytes);
  checkContract(index, request, response);
}

let next = first;
const deadline = performance.now() + Number(values.seconds) * 1_000;
let refreshing: Promise<void> | undefined;
async function sendRequests(): Promise<void> {
  const connection = new Connection(service.url);
  while (next < first + count && performance.now() < deadline && service.alive()) {
    const index = next;
    next += 1;
    if (index % REFRESH_EVERY_REQUESTS === 0) {
      refreshing = refresh();
    }
    await refreshing;
    await tryRequest(index, connection);
    sent += 1;
  }
  connection.close();
}

const began = performance.now();
const perSecond = () => Math.round((sent * 1000) / (performance.now() - began));
const reporter = setInterval(async () => {
  rssMiB = Math.max(rssMiB, (await pidusage(service.pid).catch(() => ({ memory: 0 }))).memory / 2 ** 20);
  console.log(`${sent} requests, ${perSecond()} a second, RSS ${Math.round(rssMiB)} MiB`);
}, REPORT_INTERVAL_MS);

await Promise.all(Array.from({ length: Number(values.connections) }, sendRequests));
clearInterval(reporter);

console.log(`\n${sent} requests, ${perSecond()} a second`);
console.log(
  [...statuses]
    .sort()
    .map(([status, number]) => `${status}: ${number}`)
    .join(', '),
);

if (service.alive()) {
  rssMiB = Math.max(rssMiB, (await pidusage(service.pid)).memory / 2 ** 20);
  if (rssMiB > RSS_MAX_MIB) report(`RSS of ${Math.round(rssMiB)} MiB`);
  if ((await snapshot()) !== before) report('the private account has changed');
  if ((await service.stop('SIGTERM')) !== 0) report('the service did not exit with 0');
  const verification = await runCommand(cleanup, ['verify/index'], environment);
  if (verification.code !== 0) report('the stores are inconsistent', undefined, undefined, verification.output);
} else {
  report('the service died', undefined, undefined, (await readFile(service.logPath, 'utf8')).slice(-4_000));
}
for (const leak of await secretsIn(service.logPath, new Set([marker, OWNER_PASSWORD]))) report(`${leak} in the log`);
await cleanup.run();

if (findings.size === 0) console.log(`Nothing found. RSS ${Math.round(rssMiB)} MiB, the stores are consistent.`);
else for (const [kind, number] of findings) console.log(`${number} × ${kind}`);
process.exit(findings.size === 0 ? 0 : 1);
