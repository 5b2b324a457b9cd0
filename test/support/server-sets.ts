import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import type { ServerName } from '../../scripts/services/state.js';
import { needsProgram, script } from './processes.js';
import { temporaryDirectory } from './stores.js';

const run = promisify(execFile);

/** The directory in which Debian's packages install PostgreSQL, with a subdirectory for each version. */
const POSTGRES_DIRECTORY = '/usr/lib/postgresql';

/** Returns the program directory of the system's latest PostgreSQL that the service supports, or undefined. */
async function findPostgres(): Promise<string | undefined> {
  const versions = (await readdir(POSTGRES_DIRECTORY).catch(() => [])).map(Number);
  const supported = versions.filter((version) => version >= 15 && version <= 18).sort((a, b) => b - a);
  const directories = supported.map((version) => join(POSTGRES_DIRECTORY, String(version), 'bin'));
  return directories.find((directory) => existsSync(join(directory, 'postgres')));
}

/** Returns why no set of servers can be started and backed up here, or false. */
export async function whyNoServerSets(): Promise<string | false> {
  if (!process.env.SERVICES_DIR) return 'needs SERVICES_DIR: npm run test:services';
  if (!(await findPostgres()))
    return 'needs PostgreSQL 15 to 18 with pg_dump: apt-get install --no-install-recommends postgresql';
  return needsProgram('aws', 'awscli').skip;
}

export interface ServerSet {
  /** The variables with which a service uses the servers. */
  variables: Record<string, string>;
  /** The PATH with the commands of the servers: `pg_dump` and `neo4j-admin`, for example. */
  path: string;
  /** The variables with which `npm run services` controls the servers. */
  environment: { SERVICES_DIR: string; SERVICES_POSTGRES: string };
  /** The directory with the data of the servers, for example of the S3 server in `s3`. */
  data: string;
  stop(server: ServerName): Promise<void>;
  start(server: ServerName): Promise<void>;
}

/**
 * Starts new, empty servers like `npm run services`, with the programs already fetched into SERVICES_DIR. PostgreSQL is that
 * of the system, so that it is not newer than the system's pg_dump. The servers are deleted when the test ends.
 */
export async function startServerSet(t: Test): Promise<ServerSet> {
  const postgres = (await findPostgres()) ?? '';
  const parent = await temporaryDirectory(t);
  // PostgreSQL runs as another user if the tests run as root.
  await chmod(parent, 0o711);
  const directory = join(parent, 'servers');
  await mkdir(directory, { mode: 0o755 });
  await writeFile(join(directory, 'lock'), '');
  const fetched = process.env.SERVICES_DIR ?? '';
  // A Redis that is installed on the system was not fetched.
  for (const name of ['neo4j', 'redis', 's3'].filter((name) => existsSync(join(fetched, name)))) {
    // Hard links, because the programs take hundreds of megabytes.
    await run('cp', ['-Rl', join(fetched, name), directory]).catch(() =>
      run('cp', ['-R', join(fetched, name), directory]),
    );
  }
  const environment = { SERVICES_DIR: directory, SERVICES_POSTGRES: postgres };
  const env = { ...process.env, ...environment };
  const services = (...args: string[]) => run(process.execPath, [script('services/index'), ...args], { env });
  t.teardown(() => services('down', '--purge'));
  // On a busy machine, Neo4j takes longer than one attempt waits.
  const startServices = (...args: string[]) => services(...args).catch(() => services(...args));
  const { stdout } = await startServices('up');
  const exported = [...stdout.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]);
  const [home = ''] = (await readdir(join(directory, 'data'))).filter((name) => name.startsWith('neo4j-'));
  const bin = await writeNeo4jAdmin(parent, join(directory, 'neo4j'), join(directory, 'data', home));
  return {
    variables: Object.fromEntries(exported),
    path: [bin, postgres, process.env.PATH].join(delimiter),
    environment,
    data: join(directory, 'data'),
    stop: async (server) => void (await services('stop', server)),
    start: async (server) => void (await startServices('start', server)),
  };
}

/** Writes the command `neo4j-admin`, which Neo4j's Java packages do not contain. */
async function writeNeo4jAdmin(parent: string, programs: string, home: string): Promise<string> {
  const bin = join(parent, 'bin');
  await mkdir(bin);
  const [version = ''] = await readdir(programs);
  const main = `-cp '${join(programs, version)}/*' org.neo4j.cli.AdminTool`;
  await writeFile(join(bin, 'neo4j-admin'), `#!/bin/sh\nNEO4J_HOME='${home}' exec java ${main} "$@"\n`, {
    mode: 0o755,
  });
  return bin;
}
