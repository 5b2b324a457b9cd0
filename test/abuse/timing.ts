import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { startProcess } from '../support/processes.js';
import { PASSWORD } from '../support/service.js';
import { freshStores } from '../support/stores.js';
import { Cleanup } from './cleanup.js';

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
/** The test helpers use only the `teardown` method of a test. */
const test = cleanup as unknown as Test;

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
  const { url } = await startProcess(test, await freshStores(test));

  // biome-ignore lint/suspicious/noExplicitAny: callers know the type of the response.
  const send = async (method: string, path: string, token?: string, body?: object): Promise<any> => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(body && !isForm && { 'Content-Type': 'application/json' }),
      },
      body: body ? (isForm ? body : JSON.stringify(body)) : null,
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return response.json();
  };
  const formOf = (fields: Record<string, string | Blob>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    return form;
  };
  const createUser = async (name: string): Promise<string> => {
    const email = `${name}@people.example`;
    await send('POST', '/auth/register', undefined, { name, username: name, email, password: PASSWORD });
    return (await send('POST', '/auth/login', undefined, { email, password: PASSWORD })).token;
  };

  const author = await createUser('author');
  const createPost = async (): Promise<Target> => {
    const image = new Blob([samples.png], { type: 'image/png' });
    const post = await send('POST', '/posts/create', author, formOf({ title: 'A title', text: TEXT, image }));
    return { id: post.id, image: post.image.split('/').at(-1) };
  };
  const [hidden, missing]: [Target[], Target[]] = [[], []];
  for (let count = 0; count < POSTS; count += 1) {
    hidden.push(await createPost());
    const deleted = await createPost();
    await send('DELETE', `/posts/delete?id=${deleted.id}`, author);
    missing.push({ id: deleted.id, image: `${randomBytes(16).toString('hex')}.png` });
  }
  await send('PUT', '/profiles/me', author, formOf({ private: 'true' }));
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
    const isInside = Math.abs(auc - 0.5) < MAX_AUC_DEVIATION;
    passed &&= isInside;
    const [hiddenMs, missingMs] = [times.hidden, times.missing].map((list) => medianOf(list).toFixed(2));
    console.log(
      `${name.padEnd(8)} AUC ${auc.toFixed(3)}  hidden ${hiddenMs} ms, missing ${missingMs} ms  ${isInside ? 'inside' : 'OUTSIDE'}`,
    );
  }
  return passed;
}

/** Returns the share of pairs, of a value of each list, in which the first is larger; equal values count half. */
function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  let larger = 0;
  for (const one of ones) for (const other of others) larger += one > other ? 1 : one === other ? 0.5 : 0;
  return larger / (ones.length * others.length);
}

const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

try {
  if (!(await measure())) process.exitCode = 1;
} finally {
  await cleanup.run();
}
