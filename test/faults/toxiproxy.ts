import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';

/** Network faults of one store. A fault replaces the previous one, and affects existing and new connections. */
export interface FaultyStore {
  /** Drops all data in both directions without closing connections, like a cut cable. */
  blackhole(): Promise<void>;
  /** Forwards requests and drops responses, without closing connections. */
  dropResponses(): Promise<void>;
  /** Delays every response. */
  latency(milliseconds: number): Promise<void>;
  /** Resets every connection. */
  reset(): Promise<void>;
  /** Closes every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Removes the fault. Connections whose data was dropped are closed. */
  heal(): Promise<void>;
}

type FaultyStores<Name extends StoreName> = Record<Name, FaultyStore> & {
  /** The variables with which a service uses its stores through the proxies. */
  environment: NodeJS.ProcessEnv;
};

/** The variable with the address of each store, and its default port. */
const ADDRESSES = {
  postgres: { variable: 'DATABASE_URL', port: '5432' },
  graph: { variable: 'NEO4J_URI', port: '7687' },
  images: { variable: 'S3_ENDPOINT', port: '80' },
  redis: { variable: 'REDIS_URL', port: '6379' },
} satisfies Record<StoreName, { variable: string; port: string }>;

/** Test options: skips the test unless a fault proxy is available. */
export const needsProxy = {
  skip: process.env.TOXIPROXY_URL === undefined && 'needs TOXIPROXY_URL: npm run test:services',
};

/** Starts a fault proxy for each of these stores, all four by default. Removes them when the test ends. */
export async function startFaultyStores<Name extends StoreName = StoreName>(
  t: Test,
  environment: NodeJS.ProcessEnv,
  names: readonly Name[] = Object.keys(ADDRESSES) as Name[],
): Promise<FaultyStores<Name>> {
  const variables = { ...environment };
  const stores: Partial<Record<StoreName, FaultyStore>> = {};
  for (const name of names) {
    const { variable, port } = ADDRESSES[name];
    const url = new URL(variables[variable] ?? '');
    const proxy = await openProxy(t, name, `${url.hostname}:${url.port || port}`);
    url.host = proxy.address;
    // With neo4j:// the driver would discover the address of the server and bypass the proxy.
    variables[variable] = url.href.replace(/^neo4j:/, 'bolt:');
    stores[name] = proxy.store;
  }
  return { ...(stores as Record<Name, FaultyStore>), environment: variables };
}

type Toxic = { type: string; stream: 'upstream' | 'downstream'; attributes: Record<string, number> };

const blackhole = (stream: Toxic['stream']): Toxic => ({ type: 'timeout', stream, attributes: { timeout: 0 } });

async function openProxy(t: Test, storeName: StoreName, upstream: string) {
  const name = `${storeName}-${randomBytes(6).toString('hex')}`;
  const path = `/proxies/${name}`;
  const { listen } = await callApi('POST', '/proxies', { name, upstream, listen: '127.0.0.1:0' });
  t.teardown(() => callApi('DELETE', path));
  let toxics: string[] = [];

  let last: Promise<unknown> = Promise.resolve();
  /** Runs one call after the other. */
  function serialize(act: () => Promise<void>): Promise<void> {
    const result = last.then(act);
    last = result.catch(() => undefined);
    return result;
  }

  async function heal(): Promise<void> {
    for (const toxic of toxics) await callApi('DELETE', `${path}/toxics/${toxic}`);
    toxics = [];
    await callApi('POST', path, { enabled: true });
  }

  const addToxics = (...next: Toxic[]) =>
    serialize(async () => {
      await heal();
      for (const toxic of next) toxics.push((await callApi('POST', `${path}/toxics`, toxic)).name);
    });

  const faultyStore: FaultyStore = {
    blackhole: () => addToxics(blackhole('upstream'), blackhole('downstream')),
    dropResponses: () => addToxics(blackhole('downstream')),
    latency: (latency) => addToxics({ type: 'latency', stream: 'downstream', attributes: { latency } }),
    reset: () => addToxics({ type: 'reset_peer', stream: 'downstream', attributes: { timeout: 0 } }),
    refuse: () =>
      serialize(async () => {
        await heal();
        await callApi('POST', path, { enabled: false });
      }),
    heal: () => serialize(heal),
  };
  return { address: listen, store: faultyStore };
}

/** Calls the HTTP API of Toxiproxy. Returns the resulting proxy or toxic, unless it was deleted. */
async function callApi(method: string, path: string, json?: object): Promise<{ name: string; listen: string }> {
  const response = await fetch(`${process.env.TOXIPROXY_URL}${path}`, {
    method,
    body: json ? JSON.stringify(json) : null,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Toxiproxy responded with ${response.status} to ${method} ${path}: ${text}`);
  return JSON.parse(text || '{}');
}
