import { createServer, request } from 'node:http';
import pLimit from 'p-limit';
import type { Test } from 'tap';
import { expectConsistentStores } from './consistency.js';
import type { HttpOptions, TestResponse } from './http.js';
import { listen } from './listen.js';
import { LONG_TIMEOUTS, retryWhileBusy, startTestService } from './service.js';
import { onServices } from './stores.js';
import { createUserFactory } from './users.js';

/** The number of rounds of each race. Embedded stores need fewer: their single connection allows few interleavings. */
const ROUNDS = onServices ? 60 : 15;

const CONCURRENT_ROUNDS = 8;

/** The timeout of a test file with races, on a busy machine. */
const TIMEOUT_MS = 600_000;

/** Starts two services on one set of stores, each with its own relay and batches, or one if the stores are embedded. */
export async function startRaceServices(t: Test) {
  t.setTimeout(TIMEOUT_MS);
  const first = await startTestService(t, LONG_TIMEOUTS);
  const others = onServices ? [await startTestService(t, { ...first.environment, ...LONG_TIMEOUTS })] : [];
  const services = [first, ...others] as const;
  let requestCount = 0;
  let failures: unknown[] = [];
  /** Alternates between the services, so that concurrent requests reach different ones. */
  const send = async (method: string, path: string, options?: HttpOptions) => {
    requestCount += 1;
    const service = services[requestCount % services.length] ?? first;
    const response = await retryWhileBusy(() => service.send(method, path, options));
    if (response.status >= 500) {
      const id = response.headers.get('x-request-id') ?? '';
      const log = service.logged().split('\n');
      failures.push([method, path, response.status, log.filter((line) => line.includes(id))]);
    }
    return response;
  };

  return {
    services,
    send,
    createUser: await createUserFactory({ stores: first.stores, tokens: first.context.tokens, send }),
    /** Runs the rounds of a race. Expects no server errors, and then consistent stores. */
    async run(t: Test, round: (number: number) => Promise<void>) {
      failures = [];
      const limit = pLimit(CONCURRENT_ROUNDS);
      await Promise.all(Array.from({ length: ROUNDS }, (_, number) => limit(() => round(number))));
      t.same(failures, [], 'no response is a server error');
      await expectConsistentStores(t, first.stores);
    },
  };
}

/** Sends all requests concurrently, each twice, and returns the statuses, sorted. */
export async function sendTwiceConcurrently(...requests: (() => Promise<TestResponse>)[]): Promise<number[]> {
  const responses = await Promise.all(requests.flatMap((request) => [request(), request()]));
  return responses.map(({ status }) => status).sort();
}

/** Repeats each request until the promise settles, and returns the result of the promise. */
export async function repeatUntilSettled<Result>(
  result: Promise<Result>,
  ...requests: (() => Promise<unknown>)[]
): Promise<Result> {
  let isSettled = false;
  const repeat = async (request: () => Promise<unknown>) => {
    while (!isSettled) await request();
  };
  const repeated = Promise.all(requests.map(repeat));
  // A rejection is thrown below, once the result is known.
  repeated.catch(() => undefined);
  try {
    return await result;
  } finally {
    isSettled = true;
    await repeated;
  }
}

/** Starts a proxy that sends each request to the next one of the services, and returns its URL. */
export async function startBalancer(t: Test, urls: readonly string[]): Promise<string> {
  let count = 0;
  // Without a timeout, no connection is closed in the moment in which the client sends a request on it.
  const balancer = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const { method, url: path, rawHeaders: headers } = incoming;
    count += 1;
    const { hostname, port } = new URL(urls[count % urls.length] ?? '');
    const forwarded = request({ hostname, port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.rawHeaders);
      response.on('error', () => outgoing.destroy()).pipe(outgoing);
      // Node's client sends no more of a body once the response is complete, so the rest of it is discarded.
      response.on('end', () => {
        incoming.unpipe(forwarded).resume();
        if (!forwarded.writableFinished) forwarded.destroy();
      });
    });
    // The service may respond and close the connection before it has read the whole body.
    forwarded.on('error', () => outgoing.headersSent || outgoing.destroy());
    incoming.pipe(forwarded);
  });
  return `http://127.0.0.1:${await listen(t, balancer)}`;
}
