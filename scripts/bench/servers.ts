import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

const BASELINE = fileURLToPath(new URL('baseline.js', import.meta.url));

export type Servers = Readonly<Partial<Record<ServerName, Server>>>;

/** Starts the servers, runs `use`, and stops them. */
export async function withServers(
  needed: ReadonlySet<ServerName>,
  { environment, users }: Dataset,
  folder: string,
  against: string | undefined,
  use: (servers: Servers) => Promise<void>,
): Promise<void> {
  const servers: Partial<Record<ServerName, Server>> = {};
  const log = (name: string) => join(folder, `${name}.log`);
  const [PAGES, FILES] = [join(folder, 'pages.json'), join(folder, 'files')];
  const pages = users.map(({ token, pages }) => [`Bearer ${token}`, pages[0]]);
  await writeFile(PAGES, JSON.stringify(Object.fromEntries(pages)));
  await mkdir(FILES, { recursive: true });
  try {
    // These copy embedded databases, so they run before a process uses the databases.
    if (against !== undefined) {
      servers.against = await startService(against, await copyStores(environment, folder), log('against'));
    }
    const account = needed.has('account') ? await accountVariables(environment, folder) : {};
    for (const [name, variables] of Object.entries({ account, posts: { PAGES }, files: { FILES } })) {
      if (needed.has(name as ServerName)) {
        servers[name as ServerName] = await startServer([BASELINE, name], variables, log(name));
      }
    }
    servers.argon2 = { url: '', pid: process.pid, stop: async () => undefined };
    servers.service = await startService(CHECKOUT, environment, log('service'));
    for (const [name, variables] of Object.entries({ withoutRedis: { REDIS_URL: '' }, twoWorkers: { WORKERS: '2' } })) {
      if (needed.has(name as ServerName)) {
        servers[name as ServerName] = await startService(CHECKOUT, { ...environment, ...variables }, log(name));
      }
    }
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
