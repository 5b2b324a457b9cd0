import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { median } from '../../scripts/bench/statistics.js';
import { picture } from '../support/picture.js';
import { HIGH_RATE_LIMITS } from '../support/processes.js';
import { PASSWORD } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import type { Figure } from './attack.js';
import { Cleanup } from './cleanup.js';
import { type SendOptions, send as sendTo } from './client.js';
import { startAbusedService } from './service.js';

/*
 * Measures whether response times distinguish hidden posts from missing ones.
 *
 * For each operation it prints the AUC of the two distributions: the probability that a hidden post takes longer than a
 * missing one. 0.5 means that they are indistinguishable.
 */

const MAX_AUC_DEVIATION = 0.1;
/** Pairs that are sent first, without being counted. */
const WARM_UP_PAIRS = 50;

/** The number of posts of each kind, large enough to average out caches and page layout. */
const POSTS = 20;

/** The longest text: 40 KB, which PostgreSQL stores out of line (TOAST). */
const TEXT = Array.from({ length: 10_000 }, () => String.fromCodePoint(0x1f300 + Math.floor(Math.random() * 200))).join(
  '',
);

interface Post {
  id: number;
  image: string;
}

interface Operation {
  method: string;
  path(post: Post): string;
  form?: true;
}

const OPERATIONS: Record<string, Operation> = {
  read: { method: 'GET', path: ({ id }) => `/posts/${id}` },
  image: { method: 'GET', path: ({ image }) => `/posts/image/${image}` },
  like: { method: 'POST', path: ({ id }) => `/posts/like?id=${id}` },
  unlike: { method: 'DELETE', path: ({ id }) => `/posts/like?id=${id}` },
  edit: { method: 'PUT', path: ({ id }) => `/posts/edit?id=${id}`, form: true },
  delete: { method: 'DELETE', path: ({ id }) => `/posts/delete?id=${id}` },
};

/** Posts of both kinds, and the token of a user who may see neither. */
interface Fixture {
  hidden: Post[];
  missing: Post[];
  stranger: string;
}

async function createFixture(url: string): Promise<Fixture> {
  const send = async (method: string, path: string, options: SendOptions) => {
    const { status, body } = await sendTo(url, method, path, options);
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
    return body;
  };
  const createUser = async (name: string): Promise<string> => {
    const email = `${name}@people.example`;
    await send('POST', '/auth/register', { json: { name, username: name, email, password: PASSWORD } });
    return (await send('POST', '/auth/login', { json: { email, password: PASSWORD } })).token;
  };
  const author = await createUser('author');
  const createPost = async (): Promise<Post> => {
    const form = { title: 'A title', text: TEXT, image: picture() };
    const post = await send('POST', '/posts/create', { token: author, form });
    return { id: post.id, image: post.image.split('/').at(-1) };
  };
  const [hidden, missing]: [Post[], Post[]] = [[], []];
  for (let count = 0; count < POSTS; count += 1) {
    hidden.push(await createPost());
    const deleted = await createPost();
    await send('DELETE', `/posts/delete?id=${deleted.id}`, { token: author });
    missing.push({ id: deleted.id, image: `${randomBytes(16).toString('hex')}.png` });
  }
  await send('PUT', '/profiles/me', { token: author, form: { private: 'true' } });
  return { hidden, missing, stranger: await createUser('stranger') };
}

const TIMEOUT_MS = 30_000;

const FORM = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nMine\r\n--b--\r\n';
const FORM_HEADERS = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': FORM.length };

/** Returns the time until the head of the 404 has arrived. */
function measureMs(url: string, agent: Agent, token: string, { method, path, form }: Operation, post: Post) {
  return new Promise<number>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, ...(form && FORM_HEADERS) };
    const started = performance.now();
    const outgoing = request(url + path(post), { method, agent, headers, timeout: TIMEOUT_MS }, (response) => {
      const elapsed = performance.now() - started;
      if (response.statusCode !== 404) reject(new Error(`${method} ${path(post)}: ${response.statusCode}`));
      response.resume().on('end', () => resolve(elapsed));
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no response in ${TIMEOUT_MS} ms`)));
    outgoing.on('error', reject).end(form && FORM);
  });
}

/** Returns the response times of an operation, measured in pairs of a hidden and a missing post in random order. */
async function measurePairs(
  pairs: number,
  { hidden, missing }: Fixture,
  measure: (post: Post) => Promise<number>,
): Promise<Record<'hidden' | 'missing', number[]>> {
  const times: Record<'hidden' | 'missing', number[]> = { hidden: [], missing: [] };
  const kinds = [
    ['hidden', hidden],
    ['missing', missing],
  ] as const;
  for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
    for (const [kind, posts] of Math.random() < 0.5 ? kinds : kinds.toReversed()) {
      const milliseconds = await measure(posts[Math.floor(Math.random() * posts.length)] as Post);
      if (pair >= 0) times[kind].push(milliseconds);
    }
  }
  return times;
}

/** Returns the share of pairs, one value of each list, whose first value is larger. Equal values count half. */
function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  let larger = 0;
  for (const one of ones) for (const other of others) larger += one > other ? 1 : one === other ? 0.5 : 0;
  return larger / (ones.length * others.length);
}

/** Returns the number of operations whose response times distinguish hidden posts from missing ones. */
export async function measureTiming(pairs: number): Promise<Figure> {
  const cleanup = new Cleanup();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanup.teardown(() => agent.destroy());
  let distinguishable = 0;
  try {
    const environment = { ...(await freshStores(cleanup)), ...HIGH_RATE_LIMITS, LOG_LEVEL: 'warn' };
    const { url } = await startAbusedService(cleanup, environment);
    const fixture = await createFixture(url);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const { hidden, missing } = await measurePairs(pairs, fixture, (post) =>
        measureMs(url, agent, fixture.stranger, operation, post),
      );
      const auc = areaUnderCurve(hidden, missing);
      const passes = Math.abs(auc - 0.5) < MAX_AUC_DEVIATION;
      if (!passes) distinguishable += 1;
      const [hiddenMs, missingMs] = [hidden, missing].map((times) => median(times).toFixed(2));
      console.log(
        `${name.padEnd(8)} AUC ${auc.toFixed(3)}  hidden ${hiddenMs} ms, missing ${missingMs} ms  ${passes ? 'passed' : 'FAILED'}`,
      );
    }
  } finally {
    await cleanup.run();
  }
  return { name: 'distinguishable', value: distinguishable, atMost: 0 };
}
