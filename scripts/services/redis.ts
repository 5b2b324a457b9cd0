import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { makeOnce } from '../tools/once.js';
import { ServicesError } from './errors.js';
import { folder } from './folder.js';
import type { Server } from './server.js';
import { find, outputOf, run, tool } from './tools.js';

/** Debian's packages, unpacked here; nothing is installed. */
const unpacked = () => folder('redis', 'debian');
const installed = () => find('redis-server') ?? find('valkey-server');
const binary = () => installed() ?? join(unpacked(), 'usr/bin/redis-server');
const libraries = () => (installed() ? {} : { LD_LIBRARY_PATH: libraryPath(unpacked()) });

export const redis: Server = {
  title: 'Redis',
  stopSignal: 'SIGTERM',

  tools() {
    if (redis.fetched()) return [];
    const install = 'apt-get install redis-server, or brew install redis';
    const name = 'redis-server, or apt-get and dpkg-deb to fetch it';
    return [{ name, there: ['apt-get', 'dpkg-deb'].every((each) => tool(each, '').there), install }];
  },

  fetched: () => installed() !== undefined || existsSync(unpacked()),

  fetch: () =>
    makeOnce(unpacked(), async (partial) => {
      await download(partial).catch(async (error) => {
        if (process.getuid?.() !== 0)
          throw new ServicesError(`redis: ${error.message}\nTry it after: sudo apt-get update`);
        // Old lists name packages that are gone. This refreshes them, and installs nothing.
        await run('redis', 'apt-get', ['update']);
        await download(partial);
      });
      for (const file of readdirSync(partial).filter((name) => name.endsWith('.deb'))) {
        await run('redis', 'dpkg-deb', ['-x', join(partial, file), partial]);
        await rm(join(partial, file));
      }
    }),

  version: () =>
    /v=(\S+)/.exec(outputOf(binary(), ['--version'], { env: { ...process.env, ...libraries() } }))?.[1] ?? 'unknown',

  async prepare({ passwords }, port) {
    const data = folder('data', 'redis');
    await mkdir(data, { recursive: true, mode: 0o700 });
    // In a file, since everybody sees arguments.
    const file = join(data, 'redis.conf');
    const settings = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir "${data}"`,
      `requirepass ${passwords.redis}`,
      // So that every test can have one.
      'databases 10000',
      'save ""',
      'appendonly no',
    ];
    await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o600 });
    return { command: binary(), args: [file], cwd: data, env: libraries() };
  },

  async answers({ passwords }, port) {
    const client = new Redis({
      host: '127.0.0.1',
      port,
      password: passwords.redis,
      lazyConnect: true,
      connectTimeout: 3000,
      commandTimeout: 3000,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    // The command fails as well.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.ping();
    } finally {
      client.disconnect();
    }
  },
};

/** redis-server and whatever it needs that this system lacks. */
async function download(directory: string): Promise<void> {
  const plan = outputOf('apt-get', ['install', '--simulate', '--no-install-recommends', 'redis-server']);
  const packages = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  await run('redis', 'apt-get', ['download', ...packages], { cwd: directory });
}

/** Every directory that holds a library. */
function libraryPath(root: string): string {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.so(\.\d+)*$/.test(path));
  return [...new Set(files.map((path) => join(root, dirname(path))))].join(delimiter);
}
