import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { CommandError } from '../support/command-error.js';
import { createDirectoryAtomically } from '../support/create-directory.js';
import { folder } from './folder.js';
import { findCommand, outputOf, runLogged } from './programs.js';
import type { Server } from './server.js';

/** Returns the directory where Debian packages are unpacked instead of installed. */
const unpacked = () => folder('redis', 'debian');
const installedCommand = () => findCommand('redis-server') ?? findCommand('valkey-server');
const binary = () => installedCommand() ?? join(unpacked(), 'usr/bin/redis-server');
const libraryVariables = () => (installedCommand() ? {} : { LD_LIBRARY_PATH: libraryPath(unpacked()) });

export const redis: Server = {
  title: 'Redis',
  stopSignal: 'SIGTERM',

  requiredPrograms() {
    if (redis.isFetched()) return [];
    const name = 'redis-server, or apt-get and dpkg-deb to fetch it';
    const isFound = ['apt-get', 'dpkg-deb'].every((command) => findCommand(command) !== undefined);
    return [{ name, isFound, installHint: 'apt-get install redis-server, or brew install redis' }];
  },

  isFetched: () => installedCommand() !== undefined || existsSync(unpacked()),

  fetch: () =>
    createDirectoryAtomically(unpacked(), async (partial) => {
      await downloadPackages(partial).catch(async (error) => {
        if (process.getuid?.() !== 0)
          throw new CommandError(`redis: ${error.message}\nTry again after: sudo apt-get update`);
        // Outdated package lists refer to removed packages. This refreshes the lists and installs nothing.
        await runLogged('redis', 'apt-get', ['update']);
        await downloadPackages(partial);
      });
      for (const file of readdirSync(partial).filter((name) => name.endsWith('.deb'))) {
        await runLogged('redis', 'dpkg-deb', ['-x', join(partial, file), partial]);
        await rm(join(partial, file));
      }
    }),

  version: () =>
    /v=(\S+)/.exec(outputOf(binary(), ['--version'], { env: { ...process.env, ...libraryVariables() } }))?.[1] ??
    'unknown',

  async prepare({ passwords }, port) {
    const data = folder('data', 'redis');
    await mkdir(data, { recursive: true, mode: 0o700 });
    // Other users can see the arguments of a process, so the password is in a file.
    const file = join(data, 'redis.conf');
    const settings = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir "${data}"`,
      `requirepass ${passwords.redis}`,
      // Each test uses a database of its own.
      'databases 10000',
      'save ""',
      'appendonly no',
    ];
    await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o600 });
    return { command: binary(), args: [file], cwd: data, env: libraryVariables() };
  },

  async checkReady({ passwords }, port) {
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
    // Without a listener, ioredis prints connection errors. The command fails anyway.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.ping();
    } finally {
      client.disconnect();
    }
  },
};

/** Downloads redis-server and its missing dependencies. */
async function downloadPackages(directory: string): Promise<void> {
  const plan = outputOf('apt-get', ['install', '--simulate', '--no-install-recommends', 'redis-server']);
  const packages = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  await runLogged('redis', 'apt-get', ['download', ...packages], { cwd: directory });
}

/** Returns the directories that contain shared libraries, in the format of LD_LIBRARY_PATH. */
function libraryPath(root: string): string {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.so(\.\d+)*$/.test(path));
  return [...new Set(files.map((path) => join(root, dirname(path))))].join(delimiter);
}
