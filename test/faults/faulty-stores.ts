import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import { type FaultyProxy, startProxy } from '../support/proxy.js';

type FaultyStores<Name extends StoreName> = Record<Name, FaultyProxy> & {
  /** The variables with which a service uses its stores through the proxies. */
  environment: NodeJS.ProcessEnv;
};

/** The variable that contains the address of each store, and the port if the address has none. */
const ADDRESSES = {
  postgres: { variable: 'DATABASE_URL', port: '5432' },
  graph: { variable: 'NEO4J_URI', port: '7687' },
  images: { variable: 'S3_ENDPOINT', port: '80' },
  redis: { variable: 'REDIS_URL', port: '6379' },
} satisfies Record<StoreName, { variable: string; port: string }>;

const missing = Object.values(ADDRESSES).find(({ variable }) => process.env[variable] === undefined)?.variable;

/** Test options that skip a test unless all four stores are servers. */
export const needsAllServers = { skip: missing !== undefined && `needs ${missing}: npm run test:services` };

/** Starts a proxy for each of these stores, all four by default. They stop when the test ends. */
export async function startFaultyStores<Name extends StoreName = StoreName>(
  t: Test,
  environment: NodeJS.ProcessEnv,
  names: readonly Name[] = Object.keys(ADDRESSES) as Name[],
): Promise<FaultyStores<Name>> {
  const variables = { ...environment };
  const proxies: Partial<Record<StoreName, FaultyProxy>> = {};
  for (const name of names) {
    const { variable, port } = ADDRESSES[name];
    const proxy = await startProxy(t, variables[variable] ?? '', port);
    // With neo4j:// the driver would discover the address of the server and bypass the proxy.
    variables[variable] = proxy.url.replace(/^neo4j:/, 'bolt:');
    proxies[name] = proxy;
  }
  return { ...(proxies as Record<Name, FaultyProxy>), environment: variables };
}
