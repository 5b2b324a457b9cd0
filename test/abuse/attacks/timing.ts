import { randomBytes } from 'node:crypto';
import { picture } from '../../support/picture.js';
import { HIGH_RATE_LIMITS } from '../../support/processes.js';
import { registerWith } from '../../support/users.js';
import type { Attack, Target } from '../attack.js';
import { ATTACKER } from '../client.js';

/** The number of pairs of requests per operation. With 250, fewer than one run in a thousand fails by chance. */
const PAIRS = { quick: 250, full: 500 };
/** Pairs that are sent first, without being counted. */
const WARM_UP_PAIRS = 50;
const MAX_AUC_DEVIATION = 0.1;

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

/**
 * Measures whether response times distinguish hidden posts from missing ones, by the AUC of the two distributions: the
 * probability that a hidden post takes longer than a missing one. 0.5 means that they are indistinguishable.
 */
export const timing: Attack = {
  title: 'response times of hidden and missing posts',
  variables: { ...HIGH_RATE_LIMITS, LOG_LEVEL: 'warn' },
  // Other requests would disturb the measurement.
  honestRequests: () => [],
  async run(target) {
    const posts = await createPosts(target);
    const pairs = target.quick ? PAIRS.quick : PAIRS.full;
    const measurements = [];
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const { hidden, missing } = await measurePairs(target, pairs, posts, operation);
      const deviation = Math.abs(areaUnderCurve(hidden, missing) - 0.5);
      measurements.push({
        name: `deviation of the AUC from 0.5, ${name}`,
        value: deviation,
        atMost: MAX_AUC_DEVIATION,
      });
    }
    return measurements;
  },
  measurements: () => [],
};

type ByKind<Value> = Record<'hidden' | 'missing', Value[]>;

async function createPosts({ send }: Target): Promise<ByKind<Post>> {
  const { token } = await registerWith(send);
  const createPost = async (): Promise<Post> => {
    const form = { title: 'A title', text: TEXT, image: picture() };
    const { body } = await send('POST', '/posts/create', { token, form });
    return { id: body.id, image: body.image.split('/').at(-1) };
  };
  const posts: ByKind<Post> = { hidden: [], missing: [] };
  for (let count = 0; count < POSTS; count += 1) {
    posts.hidden.push(await createPost());
    const { id } = await createPost();
    const { status } = await send('DELETE', `/posts/delete?id=${id}`, { token });
    if (status !== 200) throw new Error(`The deletion of a post returned ${status}`);
    posts.missing.push({ id, image: `${randomBytes(16).toString('hex')}.png` });
  }
  await send('PUT', '/profiles/me', { token, form: { private: 'true' } });
  return posts;
}

/** Returns response times in milliseconds, measured in pairs of a hidden and a missing post in random order. */
async function measurePairs(target: Target, pairs: number, posts: ByKind<Post>, operation: Operation) {
  const times: ByKind<number> = { hidden: [], missing: [] };
  for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
    const kinds = ['hidden', 'missing'] as const;
    for (const kind of Math.random() < 0.5 ? kinds : kinds.toReversed()) {
      const post = posts[kind][Math.floor(Math.random() * POSTS)] as Post;
      const milliseconds = await measureMs(target, operation, post);
      if (pair >= 0) times[kind].push(milliseconds);
    }
  }
  return times;
}

const FORM = {
  body: '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nMine\r\n--b--\r\n',
  headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
};

/** Returns the milliseconds until a 404 has arrived. Requests are sent one at a time, over the same connection. */
async function measureMs({ send, attacker }: Target, { method, path, form }: Operation, post: Post) {
  const options = { localAddress: ATTACKER, token: attacker.token, ...(form && FORM) };
  const began = performance.now();
  const { status } = await send(method, path(post), options);
  const elapsedMs = performance.now() - began;
  if (status !== 404) throw new Error(`${method} ${path(post)}: ${status}`);
  return elapsedMs;
}

/** Returns the fraction of all pairs of `one` and `other` in which `one` is larger. Equal values count half. */
function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  let larger = 0;
  for (const one of ones) for (const other of others) larger += one > other ? 1 : one === other ? 0.5 : 0;
  return larger / (ones.length * others.length);
}
