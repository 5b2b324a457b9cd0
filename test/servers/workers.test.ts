import { once } from 'node:events';
import t from 'tap';
import { startAndFail, startProcess } from '../support/processes.js';
import { scrape } from '../support/prometheus.js';
import { repeatUntilSettled } from '../support/races.js';
import { freshStores, needsServers } from '../support/stores.js';
import { until } from '../support/until.js';

const WORKERS = 2;

t.test('workers', needsServers, async (t) => {
  const environment = { ...(await freshStores(t)), WORKERS: String(WORKERS), LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
  const service = await startProcess(t, environment);
  let readLines = 0;
  /** Waits for the next `count` lines with this message, and returns their process ids. */
  const waitForLines = async (message: string, count: number): Promise<number[]> => {
    let found: string[] = [];
    await until(() => {
      // The last line may be incomplete.
      const lines = service.output().split('\n').slice(readLines, -1);
      found = lines.filter((line) => line.includes(`"msg":"${message}"`)).slice(0, count);
      if (found.length < count) return false;
      readLines += lines.indexOf(found[count - 1] ?? '') + 1;
      return true;
    });
    return found.map((line) => JSON.parse(line).pid);
  };
  let pids = await waitForLines('worker started', WORKERS);

  t.test('share a port and the rate limits, and their metrics are aggregated', async (t) => {
    const remaining = new Set<string | null>();
    const requests = 8;
    for (let count = 0; count < requests; count += 1) {
      // With separate connections, the workers take turns.
      const { headers } = await fetch(`${service.url}/auth/me`, { headers: { Connection: 'close' } });
      remaining.add(headers.get('x-ratelimit-remaining'));
    }
    t.equal(remaining.size, requests, 'each request is counted once, by all workers together');
    const ready = await fetch(`${service.opsUrl}/readyz`);
    t.equal(ready.status, 200);
    t.match(await ready.json(), { status: 'ok', stores: { postgres: { ok: true }, redis: { ok: true } } });
    const metrics = await scrape(service.opsUrl);
    t.equal(metrics.value('http_requests_total', { operation: 'getCurrentAccount', status: '401' }), requests);
    t.equal(metrics.value('store_available', { store: 'postgres' }), 1, 'the metric is the minimum of all workers');
  });

  t.test('a worker that is killed is replaced, while the others serve', async (t) => {
    const [killed = 0, ...others] = pids;
    process.kill(killed, 'SIGKILL');
    await waitForLines('worker ended unexpectedly: starting another', 1);
    t.equal((await fetch(`${service.url}/auth/me`)).status, 401);
    const [replacement = 0] = await waitForLines('worker started', 1);
    t.notOk(pids.includes(replacement));
    pids = [...others, replacement];
  });

  t.test('SIGHUP replaces all workers, and no request fails', async (t) => {
    const outcomes = new Set<unknown>();
    const client = async () => {
      // Any HTTP server may close a persistent connection while a request is on its way.
      const response = fetch(`${service.url}/auth/me`, { headers: { Connection: 'close' } });
      outcomes.add(await response.then(({ status }) => status).catch((error) => String(error.cause ?? error)));
    };
    const restart = async () => {
      service.child.kill('SIGHUP');
      // A signal to the process group reaches the workers too.
      for (const pid of pids) process.kill(pid, 'SIGHUP');
      const started = await waitForLines('worker started', WORKERS);
      await waitForLines('restarted the workers', 1);
      return started;
    };
    const replaced = await repeatUntilSettled(restart(), client);
    t.same([...outcomes], [401]);
    t.equal(new Set([...pids, ...replaced]).size, 2 * WORKERS);
    for (const pid of pids) t.throws(() => process.kill(pid, 0), 'the old worker has ended');
  });

  t.test('stop when the primary process is killed', async (t) => {
    // The output ends once the last process that shares it has ended.
    const closed = once(service.child, 'close');
    service.child.kill('SIGKILL');
    await closed;
    await t.rejects(fetch(`${service.url}/auth/me`), 'no process listens');
  });
});

t.test(
  'a worker that cannot start ends the service, and SIGTERM ends even workers that do not respond',
  needsServers,
  async (t) => {
    const environment = { ...(await freshStores(t)), WORKERS: String(WORKERS), LOG_LEVEL: 'info', LOG_FORMAT: 'json' };
    const running = await startProcess(t, environment);
    const PORT = new URL(running.url).port;
    const { code, output } = await startAndFail(t, { ...environment, PORT, OPS_HOST: '0.0.0.0' });
    t.equal(code, 1);
    t.match(output, /EADDRINUSE/);
    t.match(output, /OPS_HOST 0\.0\.0\.0 is not a loopback address/, 'the primary process warns of the configuration');
    // A worker that does not respond is killed after 15 seconds.
    const pid = Number(/"pid":(\d+),"msg":"worker started"/.exec(running.output())?.[1]);
    process.kill(pid, 'SIGSTOP');
    t.equal(await running.end('SIGTERM'), 0);
    t.throws(() => process.kill(pid, 0), 'the worker has ended');
  },
);
