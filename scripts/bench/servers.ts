import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFiles, checkService, checkYardstick } from './check.js';
import { type Server, startServer } from './children.js';
import type { Caller, Data } from './data.js';
import type { Servers } from './rounds.js';
import type { ServerName, Work } from './works.js';

/** Limits that nobody reaches. */
const UNLIMITED = { RATE_LIMIT_MAX: '1000000000', RATE_LIMIT_STRICT_MAX: '1000000000' };

/** Starts what these works ask, on this data, and looks whether it answers as it should. */
export async function withServers<Result>(
  data: Data,
  works: readonly Work[],
  folder: string,
  use: (servers: Servers, problems: string[]) => Promise<Result>,
): Promise<Result> {
  const wanted = new Set<ServerName>(['service']);
  for (const { reference } of works) if (reference !== 'passwords') wanted.add(reference.of);
  const servers: Partial<Record<ServerName, Server>> = {};
  try {
    const [viewer] = data.checked;
    if (!viewer) throw new Error('there is nobody to ask');
    const posts = await writePosts(data, viewer, folder);
    // While nobody has it open: PGlite is alone in its directory.
    if (wanted.has('session')) servers.session = await startSession(data, posts, folder);
    for (const name of ['memory', 'files'] as const) {
      if (wanted.has(name))
        servers[name] = await startYardstick(name, { POSTS: posts, FILES: await filesIn(folder) }, folder);
    }
    const listening = { HOST: '127.0.0.1', PORT: '0', OPS_HOST: '127.0.0.1', OPS_PORT: '0', LOG_LEVEL: 'info' };
    const log = join(folder, 'service.log');
    servers.service = await startServer('../start.js', { ...data.environment, ...UNLIMITED, ...listening }, log);
    return await use(servers, await check(servers, data, viewer));
  } finally {
    for (const server of Object.values(servers)) await server.stop();
  }
}

async function check(servers: Servers, data: Data, viewer: Caller): Promise<string[]> {
  const page = firstPage(data, viewer);
  const { service, memory, session, files } = servers;
  return [
    ...(service ? await checkService(service.url, data) : []),
    ...(memory ? await checkYardstick(memory.url, page) : []),
    ...(session ? await checkYardstick(session.url, page, viewer) : []),
    ...(files ? await checkFiles(files.url) : []),
  ];
}

function firstPage({ truth }: Data, viewer: Caller) {
  return [...truth.visible(viewer.id)].slice(0, 20).map((id) => truth.post(viewer.id, id));
}

/** What the yardsticks send: what this caller's own first page is. */
async function writePosts(data: Data, viewer: Caller, folder: string): Promise<string> {
  const path = join(folder, 'posts.json');
  await writeFile(path, JSON.stringify(firstPage(data, viewer)));
  return path;
}

async function filesIn(folder: string): Promise<string> {
  const path = join(folder, 'files');
  await mkdir(path, { recursive: true });
  return path;
}

/** On the same rows: of an embedded PostgreSQL a copy. */
async function startSession({ environment, tokenSecret }: Data, posts: string, folder: string): Promise<Server> {
  const variables = { POSTS: posts, TOKEN_SECRET: tokenSecret };
  const { DATABASE_URL } = environment;
  if (DATABASE_URL !== undefined) return startYardstick('session', { ...variables, DATABASE_URL }, folder);
  const copy = join(folder, 'session');
  await cp(join(environment.DATA_DIR ?? '', 'postgres'), copy, { recursive: true });
  return startYardstick('session', { ...variables, POSTGRES_DIRECTORY: copy }, folder);
}

const startYardstick = (name: ServerName, variables: NodeJS.ProcessEnv, folder: string) =>
  startServer(`./yardsticks/${name}.js`, variables, join(folder, `${name}.log`));
