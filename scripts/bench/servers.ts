import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dataset } from './dataset.js';
import { CHECKOUT, type Server, startServer, startService } from './processes.js';
import { copyStores, STACK } from './stores.js';

const BASELINE = join(import.meta.dirname, 'baseline.js');

/** The service, the service of the other checkout, the service in other configurations, and the baselines. */
export type ServerName = keyof ReturnType<typeof startFunctions>;

export type Servers = Readonly<Partial<Record<ServerName, Server>>>;

/** Returns, for each server, a function that starts it. */
function startFunctions({ environment, users, password }: Dataset, folder: string, otherDirectory: string) {
  const log = (name: string) => join(folder, `${name}.log`);
  const startBaseline = (name: string, variables: NodeJS.ProcessEnv) =>
    startServer([BASELINE, name], variables, log(name));
  const startVariant = (name: string, variables: NodeJS.ProcessEnv = {}) =>
    startService(CHECKOUT, { ...environment, ...variables }, log(name));
  return {
    // The first two may copy the database, so they are started before a process uses it.
    otherCheckout: async () =>
      startService(otherDirectory, await copyStores(environment, folder, 'otherCheckout'), log('otherCheckout')),
    account: async () =>
      startBaseline('account', STACK === 'embedded' ? await copyStores(environment, folder, 'account') : environment),
    async posts() {
      const PAGES = join(folder, 'pages.json');
      const pages = users.map(({ token, firstPage }) => [`Bearer ${token}`, firstPage]);
      await writeFile(PAGES, JSON.stringify(Object.fromEntries(pages)));
      return startBaseline('posts', { PAGES });
    },
    async files() {
      const FILES = join(folder, 'files');
      await mkdir(FILES, { recursive: true });
      return startBaseline('files', { FILES });
    },
    argon2: () => startBaseline('argon2', { PASSWORD: password }),
    service: () => startVariant('service'),
    withoutRedis: () => startVariant('withoutRedis', { REDIS_URL: '' }),
  };
}

/**
 * Starts the servers that are needed, runs `use`, and stops them.
 *
 * @param otherDirectory the checkout, usually of an older release, whose service is `otherCheckout`
 */
export async function withServers(
  needed: ReadonlySet<ServerName>,
  dataset: Dataset,
  folder: string,
  otherDirectory: string,
  use: (servers: Servers) => Promise<void>,
): Promise<void> {
  const start = startFunctions(dataset, folder, otherDirectory);
  const servers: Partial<Record<ServerName, Server>> = {};
  try {
    for (const name of Object.keys(start) as ServerName[]) if (needed.has(name)) servers[name] = await start[name]();
    await use(servers);
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}
