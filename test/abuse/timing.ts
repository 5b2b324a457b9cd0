import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import { median } from '../../scripts/bench/statistics.js';
import { picture } from '../support/picture.js';
import { startProcess } from '../support/processes.js';
import { PASSWORD } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { Cleanup } from './cleanup.js';
import { type SendOptions, send as sendTo } from './client.js';

/*
 * Measures whether response times distinguish hidden posts from missing ones: `node .build/test/abuse/timing.js [--pairs 500]`.
 *
 * For each operation it prints the AUC of the two distributions: the probability that a hidden post takes longer than a
 * missing one. 0.5 means that they are indistinguishable. The exit code is 1 if an AUC is MAX_AUC_DEVIATION or more away
 * from 0.5.
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

const { values } = parseArgs({ options: { pairs: { type: 'string', default: '500' } } });
const pairs = Number(values.pairs);

const cleanup = new Cleanup();

interface Target {
  id: number;
  image: string;
}

const OPERATIONS: Record<string, (target: Target) => { method: string; path: string; form?: true }> = {
  read: ({ id }) => ({ method: 'GET', path: `/posts/${id}` }),
  image: ({ image }) => ({ method: 'GET', path: `/posts/image/${image}` }),
  like: ({ id }) => ({ method: 'POST', path: `/posts/like?id=${id}` }),
  unlike: ({ id }) => ({ method: 'DELETE', path: `/posts/like?id=${id}` }),
  edit: ({ id }) => ({ method: 'PUT', path: `/posts/edit?id=${id}`, form: true }),
  delete: ({ id }) => ({ method: 'DELETE', path: `/posts/delete?id=${id}` }),
};

async function measure(): Promise<boolean> {
  const { url } = await startProcess(cleanup, await freshStores(cleanup));

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
  const createPost = async (): Promise<Target> => {
    const image = picture();
    const post = await send('POST', '/posts/create', { token: author, form: { title: 'A title', text: TEXT, image } });
    return { id: post.id, image: post.image.split('/').at(-1) };
  };
  const [hidden, missing]: [Target[], Target[]] = [[], []];
  for (let count = 0; count < POSTS; count += 1) {
    hidden.push(await createPost());
    const deleted = await createPost();
    await send('DELETE', `/posts/delete?id=${deleted.id}`, { token: author });
    missing.push({ id: deleted.id, image: `${randomBytes(16).toString('hex')}.png` });
  }
  await send('PUT', '/profiles/me', { token: author, form: { private: 'true' } });
  const stranger = await createUser('stranger');

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanup.teardown(() => agent.destroy());
  const form = '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nMine\r\n--b--\r\n';
  const formHeaders = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': form.length };
  const measureMs = ({ method, path, form: hasForm }: { method: string; path: string; form?: true }) =>
    new Promise<number>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${stranger}`, ...(hasForm && formHeaders) };
      const started = performance.now();
      const outgoing = request(url + path, { method, agent, headers }, (response) => {
        const elapsed = performance.now() - started;
        if (response.statusCode !== 404) reject(new Error(`${method} ${path}: ${response.statusCode}`));
        response.resume().on('end', () => resolve(elapsed));
      });
      outgoing.on('error', reject).end(hasForm && form);
    });

  let passed = true;
  for (const [name, requestFor] of Object.entries(OPERATIONS)) {
    const times: { hidden: number[]; missing: number[] } = { hidden: [], missing: [] };
    for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
      const kinds = [
        ['hidden', hidden],
        ['missing', missing],
      ] as const;
      for (const [kind, targets] of Math.random() < 0.5 ? kinds : kinds.toReversed()) {
        const target = targets[Math.floor(Math.random() * targets.length)] as Target;
        const milliseconds = await measureMs(requestFor(target));
        if (pair >= 0) times[kind].push(milliseconds);
      }
    }
    const auc = areaUnderCurve(times.hidden, times.missing);
    const passes = Math.abs(auc - 0.5) < MAX_AUC_DEVIATION;
    passed &&= passes;
    const [hiddenMs, missingMs] = [times.hidden, times.missing].map((list) => median(list).toFixed(2));
    console.log(
      `${name.padEnd(8)} AUC ${auc.toFixed(3)}  hidden ${hiddenMs} ms, missing ${missingMs} ms  ${passes ? 'passed' : 'FAILED'}`,
    );
  }
  return passed;
}

/** Returns the share of pairs, one value of each list, whose first value is larger. Equal values count half. */
function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  let larger = 0;
  for (const one of ones) for (const other of others) larger += one > other ? 1 : one === other ? 0.5 : 0;
  return larger / (ones.length * others.length);
}

try {
  if (!(await measure())) process.exitCode = 1;
} finally {
  await cleanup.run();
}
