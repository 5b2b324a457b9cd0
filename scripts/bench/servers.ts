import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkBaseline, checkFilesBaseline, checkService } from './check.js';
import { type Server, startServer } from './children.js';
import type { BenchUser, Dataset } from './data.js';
import type { Servers } from './rounds.js';
import type { ServerName, Workload } from './workloads.js';

/** Rate limits that the load never reaches. */
const UNLIMITED = { RATE_LIMIT_MAX: '1000000000', RATE_LIMIT_STRICT_MAX: '1000000000' };

/**
 * Starts the servers that the workloads need, checks their responses, runs `use`, and stops the servers.
 *
 * @param use receives the servers and descriptions of wrong responses
 */
export async function withServers<Result>(
  dataset: Dataset,
  workloads: readonly Workload[],
  folder: string,
  use: (servers: Servers, wrongResponses: string[]) => Promise<Result>,
): Promise<Result> {
  const needed = new Set<ServerName>(['service']);
  for (const { baseline } of workloads) if (baseline !== 'passwords') needed.add(baseline.target);
  const servers: Partial<Record<ServerName, Server>> = {};
  try {
    const [viewer] = dataset.checkedUsers;
    if (!viewer) throw new Error('Expected a dataset with users to check');
    const posts = await writePosts(dataset, viewer, folder);
    // Before the service starts: an embedded database is copied, which requires that it is not open.
    if (needed.has('session')) servers.session = await startSessionBaseline(dataset, posts, folder);
    for (const name of ['memory', 'files'] as const) {
      if (needed.has(name))
        servers[name] = await startBaseline(name, { POSTS: posts, FILES: await createFilesFolder(folder) }, folder);
    }
    const addresses = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0', LOG_LEVEL: 'info' };
    const log = join(folder, 'service.log');
    servers.service = await startServer('../start.js', { ...dataset.environment, ...UNLIMITED, ...addresses }, log);
    return await use(servers, await checkServers(servers, dataset, viewer));
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

async function checkServers(servers: Servers, dataset: Dataset, viewer: BenchUser): Promise<string[]> {
  const page = firstPage(dataset, viewer);
  const { service, memory, session, files } = servers;
  return [
    ...(service ? await checkService(service.url, dataset) : []),
    ...(memory ? await checkBaseline(memory.url, page) : []),
    ...(session ? await checkBaseline(session.url, page, viewer) : []),
    ...(files ? await checkFilesBaseline(files.url) : []),
  ];
}

function firstPage({ expected }: Dataset, viewer: BenchUser) {
  return [...expected.visiblePostIds(viewer.id)].slice(0, 20).map((id) => expected.post(viewer.id, id));
}

/** Writes the posts that the baselines send: the viewer's first page. Returns the path of the file. */
async function writePosts(dataset: Dataset, viewer: BenchUser, folder: string): Promise<string> {
  const path = join(folder, 'posts.json');
  await writeFile(path, JSON.stringify(firstPage(dataset, viewer)));
  return path;
}

async function createFilesFolder(folder: string): Promise<string> {
  const path = join(folder, 'files');
  await mkdir(path, { recursive: true });
  return path;
}

/** Starts the session baseline on the database of the service, or on a copy of it if it is embedded. */
async function startSessionBaseline(
  { environment, tokenSecret }: Dataset,
  posts: string,
  folder: string,
): Promise<Server> {
  const variables = { POSTS: posts, TOKEN_SECRET: tokenSecret };
  const { DATABASE_URL } = environment;
  if (DATABASE_URL !== undefined) return startBaseline('session', { ...variables, DATABASE_URL }, folder);
  const copy = join(folder, 'session');
  await cp(join(environment.DATA_DIR ?? '', 'postgres'), copy, { recursive: true });
  return startBaseline('session', { ...variables, POSTGRES_DIRECTORY: copy }, folder);
}

const startBaseline = (name: ServerName, variables: NodeJS.ProcessEnv, folder: string) =>
  startServer(`./baselines/${name}.js`, variables, join(folder, `${name}.log`));
