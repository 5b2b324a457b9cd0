import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dataset } from './dataset.js';
import { CHECKOUT, type Server, startServer, startService } from './processes.js';
import { copyStores } from './stores.js';

/** The servers: the service, the service of the other checkout, the service in other configurations, and the baselines. */
export type ServerName =
  | 'service'
  | 'against'
  | 'withoutRedis'
  | 'twoWorkers'
  | 'posts'
  | 'account'
  | 'files'
  | 'argon2';

const BASELINE = join(import.meta.dirname, 'baseline.js');

export type Servers = Readonly<Partial<Record<ServerName, Server>>>;

/**
 * Starts the servers that are needed, runs `use`, and stops them.
 *
 * @param otherCheckout the release that `against` runs
 */
export async function withServers(
  needed: ReadonlySet<ServerName>,
  { environment, users }: Dataset,
  folder: string,
  otherCheckout: string,
  use: (servers: Servers) => Promise<void>,
): Promise<void> {
  const [PAGES, FILES] = [join(folder, 'pages.json'), join(folder, 'files')];
  const pages = users.map(({ token, pages }) => [`Bearer ${token}`, pages[0]]);
  await writeFile(PAGES, JSON.stringify(Object.fromEntries(pages)));
  await mkdir(FILES, { recursive: true });

  const log = (name: ServerName) => join(folder, `${name}.log`);
  const startBaseline = (name: ServerName, variables: NodeJS.ProcessEnv) =>
    startServer([BASELINE, name], variables, log(name));
  const startVariant = (name: ServerName, variables: NodeJS.ProcessEnv = {}) =>
    startService(CHECKOUT, { ...environment, ...variables }, log(name));
  const starts: Record<ServerName, () => Promise<Server>> = {
    // The first two copy embedded databases, so they run before a process uses the databases.
    against: async () => startService(otherCheckout, await copyStores(environment, folder), log('against')),
    account: async () => startBaseline('account', await accountVariables(environment, folder)),
    posts: () => startBaseline('posts', { PAGES }),
    files: () => startBaseline('files', { FILES }),
    argon2: async () => ({ url: '', pid: process.pid, stop: async () => undefined }),
    service: () => startVariant('service'),
    withoutRedis: () => startVariant('withoutRedis', { REDIS_URL: '' }),
    twoWorkers: () => startVariant('twoWorkers', { WORKERS: '2' }),
  };
  const servers: Partial<Record<ServerName, Server>> = {};
  try {
    for (const name of Object.keys(starts) as ServerName[]) if (needed.has(name)) servers[name] = await starts[name]();
    await use(servers);
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

/** The `account` baseline queries the database of the service, or a copy of it if it is embedded. */
async function accountVariables(
  { DATABASE_URL, TOKEN_KEYS, DATA_DIR = '' }: NodeJS.ProcessEnv,
  folder: string,
): Promise<NodeJS.ProcessEnv> {
  if (DATABASE_URL !== undefined) return { DATABASE_URL, TOKEN_KEYS };
  const DATABASE_DIRECTORY = join(folder, 'account');
  await cp(join(DATA_DIR, 'postgres'), DATABASE_DIRECTORY, { recursive: true });
  return { DATABASE_DIRECTORY, TOKEN_KEYS: (await readFile(join(DATA_DIR, 'token-keys'), 'utf8')).trim() };
}
