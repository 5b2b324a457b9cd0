import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';

/**
 * What can be done to the way to one store. A fault takes the place of the one before it, and befalls the connections there
 * are as well as those to come.
 */
export interface FaultyStore {
  /** Nothing gets through in either direction, and no connection ends, as when a cable is cut. */
  silence(): Promise<void>;
  /** What is asked gets through and is done; no answer comes back, and no connection ends. */
  loseAnswers(): Promise<void>;
  /** Every answer comes so much later. */
  latency(milliseconds: number): Promise<void>;
  /** Every connection is reset. */
  reset(): Promise<void>;
  /** Every connection ends, and nobody takes new ones. */
  refuse(): Promise<void>;
  /** All is well again. The connections that were under a silence end, since what they carried is lost. */
  heal(): Promise<void>;
}

export type FaultyStores<Name extends StoreName> = Record<Name, FaultyStore> & {
  /** The variables by which a service reaches its stores through the proxies. */
  environment: NodeJS.ProcessEnv;
};

/** Where each store's address stands, and its port where that says none. */
const ADDRESSES = {
  postgres: { variable: 'DATABASE_URL', port: '5432' },
  graph: { variable: 'NEO4J_URI', port: '7687' },
  images: { variable: 'S3_ENDPOINT', port: '80' },
  redis: { variable: 'REDIS_URL', port: '6379' },
} satisfies Record<StoreName, { variable: string; port: string }>;

/** Needs a fault proxy, as `npm run test:services` names one. */
export const needsProxy = {
  skip: process.env.TOXIPROXY_URL === undefined && 'needs TOXIPROXY_URL: npm run test:services',
};

/** Puts a proxy that can be disturbed before each of these stores, or all four. The proxies go when the test ends. */
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
    // By neo4j:// the driver would learn the server's own address, and leave the proxy out.
    variables[variable] = url.href.replace(/^neo4j:/, 'bolt:');
    stores[name] = proxy.store;
  }
  return { ...(stores as Record<Name, FaultyStore>), environment: variables };
}

type Toxic = { type: string; stream: 'upstream' | 'downstream'; attributes: Record<string, number> };

const silence = (stream: Toxic['stream']): Toxic => ({ type: 'timeout', stream, attributes: { timeout: 0 } });

async function openProxy(t: Test, store: StoreName, upstream: string) {
  const name = `${store}-${randomBytes(6).toString('hex')}`;
  const path = `/proxies/${name}`;
  const { listen } = await tell('POST', '/proxies', { name, upstream, listen: '127.0.0.1:0' });
  t.teardown(() => tell('DELETE', path));
  let toxics: string[] = [];

  // One after the other, whoever asks for them.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(act: () => Promise<void>): Promise<void> {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function heal(): Promise<void> {
    for (const toxic of toxics) await tell('DELETE', `${path}/toxics/${toxic}`);
    toxics = [];
    await tell('POST', path, { enabled: true });
  }

  const poison = (...next: Toxic[]) =>
    inTurn(async () => {
      await heal();
      for (const toxic of next) toxics.push((await tell('POST', `${path}/toxics`, toxic)).name);
    });

  const faulty: FaultyStore = {
    silence: () => poison(silence('upstream'), silence('downstream')),
    loseAnswers: () => poison(silence('downstream')),
    latency: (latency) => poison({ type: 'latency', stream: 'downstream', attributes: { latency } }),
    reset: () => poison({ type: 'reset_peer', stream: 'downstream', attributes: { timeout: 0 } }),
    refuse: () =>
      inTurn(async () => {
        await heal();
        await tell('POST', path, { enabled: false });
      }),
    heal: () => inTurn(heal),
  };
  return { address: listen, store: faulty };
}

/** Toxiproxy's HTTP API: answers the proxy or the toxic as it is then, unless that is deleted. */
async function tell(method: string, path: string, json?: object): Promise<{ name: string; listen: string }> {
  const response = await fetch(`${process.env.TOXIPROXY_URL}${path}`, {
    method,
    body: json ? JSON.stringify(json) : null,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`toxiproxy answers ${response.status} to ${method} ${path}: ${text}`);
  return JSON.parse(text || '{}');
}
