import { isDeepStrictEqual } from 'node:util';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { startService } from '../../handlers/service.js';
import { verify } from '../../scripts/verify/verify.js';
import { HIGH_RATE_LIMITS } from '../support/processes.js';
import { createRandom } from '../support/random.js';
import type { TestResponse } from '../support/requests.js';
import { drainOutbox } from '../support/store-contents.js';
import { registerWith } from '../support/users.js';
import type { Expected, Fact } from './facts.js';
import { blob, createThrowingSender, digest, noiseImage } from './load.js';

/*
 * A process that checks data directories: for each one that its parent sends, it starts a service and checks the data. It
 * reports the name of each step, then the faults. It is a separate process, because a bad state of the disk may crash or block
 * it.
 */

export interface CheckRequest {
  dataDirectory: string;
  expected: readonly Expected[];
}

process.once('disconnect', () => process.exit());
process.on('message', async (request: CheckRequest) => process.send?.({ faults: await findFaults(request) }));

type Send = ReturnType<typeof createThrowingSender>;
/** Receives a description of a fault. */
type Report = (fault: string) => void;
type FactOf<Kind extends Fact['kind']> = Extract<Fact, { kind: Kind }>;

/** Starts the service on the files that a power cut left behind. Returns a description of each fault. */
async function findFaults({ dataDirectory, expected }: CheckRequest): Promise<string[]> {
  let log = '';
  const write = (line: string) => {
    log += line;
  };
  const config = readConfig({ ...HIGH_RATE_LIMITS, PORT: '0', OPS_PORT: '0', DATA_DIR: dataDirectory });
  const faults: string[] = [];
  const report: Report = (fault) => faults.push(fault);
  async function runStep<Result>(name: string, run: () => Promise<Result>): Promise<Result | undefined> {
    process.send?.({ step: name });
    return run().catch((error) => void report(`${name}: ${error} ${log.slice(-500)}`));
  }
  const service = await runStep('start', () =>
    startService(config, createLogger({ ...config, logLevel: 'warn' }, { write })),
  );
  if (!service) return faults;
  const send = createThrowingSender(service.url);
  await runStep('verify', async () => {
    await drainOutbox(service.stores);
    for (const { title, keys } of await verify(service.stores))
      if (keys.length > 0) report(`verify: ${title}: ${keys.length}, such as ${keys[0]}`);
  });
  await runStep('acknowledged facts', () => checkFacts(send, expected, report));
  await runStep('new requests', () => checkWrites(send, report));
  await runStep('stop', () => service.stop());
  return faults;
}

/** Functions that read the value of a fact. They return undefined if it has none, because its account or post is missing. */
type Readers = {
  [Kind in Fact['kind']]: (
    fact: FactOf<Kind>,
    allowed: readonly FactOf<Kind>['value'][],
  ) => Promise<FactOf<Kind>['value'] | undefined>;
};

/** Reports each fact whose value is not allowed. */
async function checkFacts(send: Send, expected: readonly Expected[], report: Report): Promise<void> {
  const tokens = new Map<string, string>();
  const get = (email: string, path: string): Promise<TestResponse> =>
    send('GET', path, { token: tokens.get(email) ?? '' });
  const imageAt = async (email: string, path: string | null): Promise<string | null> => {
    if (path === null) return null;
    const { status, bytes } = await get(email, path);
    return status === 200 ? digest(bytes) : `status ${status}`;
  };
  const readers: Readers = {
    async account({ email }, allowed) {
      for (const value of allowed) {
        if (!value) continue;
        const { status, body } = await send('POST', '/auth/login', { json: { email, password: value.password } });
        if (status !== 200) continue;
        tokens.set(email, body.token);
        return value;
      }
      return null;
    },
    async session({ token }) {
      const { status } = await send('GET', '/auth/me', { token });
      if (status !== 200 && status !== 401) throw new Error(`GET /auth/me returned ${status}`);
      return status === 200;
    },
    async profile({ email }) {
      if (!tokens.has(email)) return undefined;
      const { id } = (await get(email, '/auth/me')).body;
      const { body } = await get(email, `/profiles/${id}`);
      return { name: body.name, private: body.private, picture: await imageAt(email, body.profile_link) };
    },
    async post({ id, author }) {
      const [anyAccount = ''] = tokens.keys();
      const reader = tokens.has(author) ? author : anyAccount;
      if (!reader) return undefined;
      const { status, body } = await get(reader, `/posts/${id}`);
      if (status === 404) return null;
      return { title: body.title, text: digest(body.text), image: await imageAt(reader, body.image) };
    },
    async like({ id, email }) {
      if (!tokens.has(email)) return undefined;
      const { status, body } = await get(email, `/posts/${id}`);
      if (status === 404) return undefined;
      if (status !== 200) throw new Error(`GET /posts/${id} returned ${status}`);
      return body.liked_by_me;
    },
    async friendship({ from, to }) {
      if (!tokens.has(from) || !tokens.has(to)) return undefined;
      const { id } = (await get(from, '/auth/me')).body;
      const isListed = async (path: string) =>
        (await get(to, path)).body.some((user: { id: number }) => user.id === id);
      if (await isListed('/friends')) return 'friends';
      return (await isListed('/friends/requests')) ? 'requested' : 'none';
    },
    async 'idempotency key'({ email, key, title, text }) {
      if (!tokens.has(email)) return undefined;
      const options = { form: { title, text }, headers: { 'Idempotency-Key': key } };
      return (await send('POST', '/posts/create', { token: tokens.get(email) ?? '', ...options })).body.id;
    },
  };
  // All accounts first, because another account reads the posts of a deleted one.
  const isAccount = ({ fact }: Expected) => fact.kind === 'account';
  for (const { fact, allowed } of [...expected.filter(isAccount), ...expected.filter((item) => !isAccount(item))]) {
    const read = readers[fact.kind] as (fact: Fact, allowed: Fact['value'][]) => Promise<Fact['value'] | undefined>;
    const found = await read(fact, allowed);
    if (found === undefined || allowed.some((value) => isDeepStrictEqual(value, found))) continue;
    const values = allowed.map((value) => JSON.stringify(value)).join(' or ');
    report(`${describe(fact)}: found ${JSON.stringify(found)}, not ${values}`);
  }
}

/** Returns a fact without secrets, for messages. */
const describe = (fact: Fact) => {
  const { value, ...key } = fact;
  return JSON.stringify({ ...key, ...('token' in key && { token: '…' }), ...('text' in key && { text: '…' }) });
};

/** Checks that new data can be written and read, which would fail if an id were reused. */
async function checkWrites(send: Send, report: Report): Promise<void> {
  const { token } = await registerWith(send);
  const image = noiseImage(createRandom('new', 0), 3_000);
  const form = { title: 'T', text: 'T', image: blob(image) };
  const created = await send('POST', '/posts/create', { token, form });
  const liked = await send('POST', `/posts/like?id=${created.body.id}`, { token });
  const found = await send('GET', `/posts/${created.body.id}`, { token });
  const bytes = (await send('GET', created.body.image, { token })).bytes;
  const succeeded = liked.status === 200 && found.body.like_count === 1 && bytes.equals(image);
  if (!succeeded) report(`new requests: ${created.status}, ${liked.status}, ${JSON.stringify(found.body)}`);
}
