import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http';
import t, { type Test } from 'tap';
import { listen } from './support/listen.js';
import { runCommand, script, spawnNode } from './support/processes.js';
import { startTestService } from './support/service.js';
import { expectEmptyStores } from './support/store-contents.js';

/** Runs the tour as `npm run tour` does. */
const runTour = (t: Test, url: string) => runCommand(t, ['tour', '--base-url', url], {});

/** Starts an HTTP proxy to a service. `intercept` may replace the response to a request with a status, or lose it. */
async function startInterceptor(
  t: Test,
  serviceUrl: string,
  intercept: (request: string) => { status: number } | { loseResponse: true } | undefined,
): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    const action = intercept(`${method} ${url}`);
    if (action && 'status' in action) {
      request.resume();
      response.writeHead(action.status, { 'Content-Type': 'application/json', 'Retry-After': '1' }).end('{}');
      return;
    }
    const forward = (received: IncomingMessage) => {
      if (action) return received.resume().once('end', () => response.destroy());
      response.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(response);
    };
    request.pipe(sendRequest(serviceUrl + url, { method, headers }, forward));
  });
  return `http://127.0.0.1:${await listen(t, proxy)}`;
}

const service = await startTestService(t);

t.test('the tour shows each step, deletes its accounts, and names the explorer', async (t) => {
  const { code, output } = await runTour(t, `${service.url}/`);
  t.equal(code, 0, output);
  for (const step of [
    /1\. The response to an invalid request lists all problems\n +POST \/auth\/register\n +400 .*"errors":\[/,
    /2\. Ada registers\n +POST \/auth\/register .*\n +201 {2}\{"id":\d+\}/,
    /Ada creates a post with an image\n +POST \/posts\/create .*\n +201 .*"image":"\/posts\/image\/\w+\.png"/,
    /Ben can no longer see the post\n +GET \/posts\/\d+\n +404 /,
    /Ada accepts the request\n +POST \/friends\/accept\?from=\d+\n +200 /,
    /with his like\n +GET \/posts\/\d+\n +200 .*"like_count":1,"liked_by_me":true/,
    /Ben deletes the account.*\n +DELETE \/profiles\/me .*\n +200 /,
  ]) {
    t.match(output, step);
  }
  t.match(output, /"token":"[^"]{8}…"/);
  t.notMatch(output, /eyJ[\w-]{20}/, 'no token is printed completely');
  t.notMatch(output, /Tour!/, 'no password is printed');
  t.notOk(output.includes('\u001b'), 'no colors are printed to a pipe');
  t.ok(output.endsWith(`at ${service.url}/docs\n`));
  await expectEmptyStores(t, service.stores);
});

t.test('an unexpected status exits with 1 and names the step, after both accounts are deleted', async (t) => {
  const fails = (request: string) => (request === 'GET /friends/requests' ? { status: 500 } : undefined);
  const url = await startInterceptor(t, service.url, fails);
  const { code, output } = await runTour(t, url);
  t.equal(code, 1);
  t.match(output, /^Step \d+: expected status 200\.$/m);
  await expectEmptyStores(t, service.stores);
});

const ADVICE = 'Wait \\d+ s, or start the service with a higher limit:';

t.test('says what to do about the rate limit, after both accounts are deleted', async (t) => {
  const limited = await startTestService(t, { RATE_LIMIT_MAX: '4' });
  const { code, output } = await runTour(t, limited.url);
  t.equal(code, 1);
  t.match(output, new RegExp(`^Too many requests\\. ${ADVICE} RATE_LIMIT_MAX=1000 npm start$`, 'm'));
  await expectEmptyStores(t, limited.stores);
});

t.test('registers no account if the strict limit would prevent the deletion of the accounts', async (t) => {
  const limited = await startTestService(t, { RATE_LIMIT_STRICT_MAX: '13' });
  t.equal((await runTour(t, limited.url)).code, 0);
  const { code, output } = await runTour(t, limited.url);
  t.equal(code, 1);
  t.notMatch(output, 'Ada registers');
  const refusal = `The tour needs 6 .*, and 5 are left\\. ${ADVICE} RATE_LIMIT_STRICT_MAX=1000 npm start`;
  t.match(output, new RegExp(`^${refusal}$`, 'm'));
});

t.test('waits if the rate limit prevents the deletion of an account', async (t) => {
  let deletions = 0;
  const url = await startInterceptor(t, service.url, (request) => {
    if (request !== 'DELETE /profiles/me') return undefined;
    deletions += 1;
    return deletions === 1 ? { status: 429 } : undefined;
  });
  const { code, output } = await runTour(t, url);
  t.equal(code, 0);
  t.match(output, /^Waiting 1 s until the accounts can be deleted/m);
  t.equal(deletions, 3);
  await expectEmptyStores(t, service.stores);
});

t.test('deletes an account whose registration got no response', async (t) => {
  let registrations = 0;
  const url = await startInterceptor(t, service.url, (request) => {
    if (request !== 'POST /auth/register') return undefined;
    registrations += 1;
    return registrations === 3 ? { loseResponse: true } : undefined;
  });
  const { code, output } = await runTour(t, url);
  t.equal(code, 1);
  t.match(output, /^No response from http/m);
  t.match(output, 'Ben deletes the account');
  await expectEmptyStores(t, service.stores);
});

t.test('deletes its accounts on Ctrl-C, even if the signal arrives again during the deletion', async (t) => {
  let child: ChildProcess | undefined;
  const url = await startInterceptor(t, service.url, (request) => {
    if (request === 'POST /posts/create' || request === 'DELETE /profiles/me') child?.kill('SIGINT');
    return undefined;
  });
  const tour = spawnNode(t, [script('tour'), '--base-url', url], {});
  child = tour.child;
  t.same(await once(child, 'close'), [1, null]);
  t.match(tour.output(), /^Interrupted\.$/m);
  t.notMatch(tour.output(), 'Ben likes the post');
  await expectEmptyStores(t, service.stores);
});

t.test('deletes its accounts without a stack trace if the reader of its output exits, as `head` does', async (t) => {
  const { child, output } = spawnNode(t, [script('tour'), '--base-url', service.url], {});
  child.stdout.on('data', () => output().includes('Ada logs in') && child.stdout.destroy());
  t.same(await once(child, 'close'), [1, null]);
  t.match(output(), /^Interrupted\.\n$/m);
  t.notMatch(output(), 'EPIPE');
  await expectEmptyStores(t, service.stores);
});

t.test('says how to start the service if none is running', async (t) => {
  await service.stop();
  const { code, output } = await runTour(t, service.url);
  t.equal(code, 1);
  t.match(output, /^No response from http\S+\. Start the service first: npm start\n$/m);
});
