import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHECKOUT, type Server, startService } from '../../bench/processes.js';
import { samples } from '../../contract-test/images.js';
import { serverProcess } from '../../services/control.js';
import { signal as sendSignal } from '../../services/processes.js';
import { drawPicture, type Line } from './draw.js';
import { readDashboard, withRateInterval } from './panels.js';
import { type Prometheus, startPrometheus } from './prometheus.js';

/*
 * Draws the panels of the dashboard from a run of six minutes: two processes on real servers serve a constant load. Neo4j does
 * not respond for a minute. Later, many users log in at the same time. Needs Prometheus, and new, empty servers:
 *
 *   npm run services -- run -- node .build/scripts/deploy/grafana/picture.js
 */

const FILE = 'scripts/deploy/grafana/dashboard.svg';

const WARM_UP_SECONDS = 20;
const RUN_SECONDS = 360;
const OUTAGE = { from: 90, to: 150, label: 'Neo4j does not respond' };
const LOGINS = { from: 250, to: 275, label: 'Many users log in' };
const STEP_SECONDS = 3;

const CLIENTS = 24;
const LOGGING_IN = 200;
const PASSWORD = 'Quiet-Harbour-27!';

const random = (below: number) => Math.floor(Math.random() * below);

type Send = (method: string, path: string, body?: FormData | object, token?: string) => Promise<Response>;

/** Returns a function that sends requests to the processes in turn. */
function createSender(services: readonly Server[]): Send {
  let next = 0;
  return async (method, path, body, token) => {
    next += 1;
    const isForm = body instanceof FormData;
    const response = await fetch(`${services[next % services.length]?.url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body && !isForm && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    return new Response(await response.arrayBuffer(), response);
  };
}

/** The ids of the posts that the clients have created. */
const postIds: number[] = [];

const emailOf = (index: number) => `client${index}@people.example`;

/** Registers a user, who sends requests with pauses until the signal aborts. */
async function useService(send: Send, index: number, { signal }: AbortController): Promise<void> {
  const login = { email: emailOf(index), password: PASSWORD };
  // Registration succeeds only in the first run. Registration and login are refused while too many clients start.
  const retry = async (path: string, body: object): Promise<Response> => {
    const response = await send('POST', path, body);
    return response.status === 503 ? sleep(500).then(() => retry(path, body)) : response;
  };
  await retry('/auth/register', { ...login, name: `Client ${index}`, username: `client${index}` });
  const { id, token } = (await (await retry('/auth/login', login)).json()) as { id: number; token: string };
  const form = (withImage: boolean) => {
    const data = new FormData();
    data.set('title', 'A post');
    data.set('text', 'Written for the picture of the dashboard.');
    if (withImage) data.set('image', new Blob([samples.png], { type: 'image/png' }), 'image.png');
    return data;
  };
  const postId = () => postIds[random(postIds.length)] ?? 1;
  const requests: [weight: number, method: string, path: () => string, body?: () => FormData | object][] = [
    [30, 'GET', () => '/posts'],
    [20, 'GET', () => `/posts/${postId()}`],
    [10, 'POST', () => `/posts/like?id=${postId()}`],
    [10, 'GET', () => `/profiles/${1 + random(CLIENTS)}`],
    [10, 'GET', () => '/auth/me'],
    [8, 'POST', () => '/posts/create', () => form(false)],
    [3, 'POST', () => '/posts/create', () => form(true)],
    [4, 'GET', () => '/friends'],
    [3, 'POST', () => `/friends/request?to=${1 + ((id + random(CLIENTS - 1)) % CLIENTS)}`],
    [2, 'POST', () => '/auth/login', () => ({ ...login, password: random(3) > 0 ? PASSWORD : 'wrong' })],
  ];
  const choices = requests.flatMap((request) => Array<typeof request>(request[0]).fill(request));
  while (!signal.aborted) {
    const [, method, path, body] = choices[random(choices.length)] as (typeof choices)[number];
    const response = await send(method, path(), body?.(), token);
    if (response.status === 201) postIds.push(((await response.json()) as { id: number }).id);
    await sleep(100 + random(300));
  }
}

/** Sends logins of many users at the same time, until the time is over. */
async function logIn(send: Send, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const user = async (index: number) => {
    while (Date.now() < deadline) {
      const { status } = await send('POST', '/auth/login', { email: emailOf(index % CLIENTS), password: PASSWORD });
      await sleep(status === 503 ? 2000 : 1000);
    }
  };
  await Promise.all(Array.from({ length: LOGGING_IN }, (_, index) => user(index)));
}

/** Returns the lines of a panel. */
async function readLines(
  prometheus: Prometheus,
  targets: readonly { expr: string; legendFormat: string }[],
  start: number,
) {
  const lines: Line[] = [];
  for (const { expr, legendFormat } of targets) {
    const series = await prometheus.call('query_range', {
      query: withRateInterval(expr, '10s'),
      start: String(start),
      end: String(start + RUN_SECONDS),
      step: String(STEP_SECONDS),
    });
    for (const { metric, values = [] } of series) {
      const name = legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '');
      const toValue = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : null);
      lines.push({ name, points: values.map(([time, text]) => [time - start, toValue(text)]) });
    }
  }
  return lines;
}

/** Runs the load and returns the picture. */
async function run(directory: string): Promise<string> {
  const services: Server[] = [];
  const opsUrls: string[] = [];
  const neo4j = serverProcess('neo4j');
  let prometheus: Prometheus | undefined;
  const ended = new AbortController();
  const clients: Promise<void>[] = [];
  try {
    for (const name of ['one', 'two']) {
      const log = join(directory, `${name}.log`);
      services.push(await startService(CHECKOUT, { ...process.env, DATA_DIR: join(directory, name) }, log));
      opsUrls.push(/Operations +(\S+)\/readyz/.exec(await readFile(log, 'utf8'))?.[1] ?? '');
    }
    prometheus = await startPrometheus(directory, opsUrls);
    const send = createSender(services);
    clients.push(...Array.from({ length: CLIENTS }, (_, index) => useService(send, index, ended)));
    await sleep(WARM_UP_SECONDS * 1000);
    const start = Math.floor(Date.now() / 1000);
    const until = (second: number) => sleep(Math.max(0, (start + second) * 1000 - Date.now()));
    await until(OUTAGE.from);
    sendSignal(neo4j, 'SIGSTOP');
    await until(OUTAGE.to);
    sendSignal(neo4j, 'SIGCONT');
    await until(LOGINS.from);
    await logIn(send, LOGINS.to - LOGINS.from);
    await until(RUN_SECONDS);
    const instances = new Map(opsUrls.map((url, index) => [new URL(url).host, `service-${index + 1}`]));
    const panels = [];
    for (const panel of readDashboard()) {
      const lines = await readLines(prometheus, panel.targets ?? [], start);
      const named = lines.map((line) => ({
        ...line,
        name: line.name.replace(/^[\d.:]+/, (host) => instances.get(host) ?? host),
      }));
      panels.push({ ...panel, lines: named });
    }
    return drawPicture({ panels, seconds: RUN_SECONDS, periods: [OUTAGE, LOGINS] });
  } finally {
    sendSignal(neo4j, 'SIGCONT');
    ended.abort();
    await Promise.allSettled(clients);
    await prometheus?.stop();
    for (const service of services) await service.stop();
  }
}

const directory = await mkdtemp(join(tmpdir(), 'social-posting-picture-'));
try {
  await writeFile(FILE, await run(directory));
} finally {
  await rm(directory, { recursive: true });
}
