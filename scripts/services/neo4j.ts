import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import neo4jDriver, { type Driver, Neo4jError } from 'neo4j-driver';
import { createDirectoryAtomically } from '../support/create-directory.js';
import { folder } from './folder.js';
import { findProgram, runLogged } from './programs.js';
import type { Server } from './server.js';

const version = () => process.env.SERVICES_NEO4J_VERSION || '5.26.30';
const isVersion5 = () => version().startsWith('5.');
/** Neo4j 5 needs Java 17, later versions need 21. */
const minJavaVersion = () => (isVersion5() ? 17 : 21);
/** Returns the Java command that Maven would use. */
const java = () => (process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java');
const jarFolder = () => folder('neo4j', version());

/** The password of a new database. */
const INITIAL_PASSWORD = 'neo4j';

/** The JVM options of Neo4j's own start script. */
const ADD_OPENS = ['java.nio', 'java.io', 'sun.nio.ch'].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);

export const neo4j: Server = {
  title: 'Neo4j',
  stopSignal: 'SIGTERM',

  requiredPrograms: () => [
    {
      name: `java ${minJavaVersion()} or later`,
      isFound: javaVersion() >= minJavaVersion(),
      installHint:
        'apt-get install default-jre-headless, brew install openjdk, or https://adoptium.net; set JAVA_HOME if there are several',
    },
    ...(neo4j.isFetched()
      ? []
      : [findProgram('mvn', 'apt-get install maven, brew install maven, or https://maven.apache.org')]),
  ],

  isFetched: () => existsSync(jarFolder()),

  fetch: () =>
    createDirectoryAtomically(jarFolder(), async (partial) => {
      const pom = folder('neo4j', 'pom.xml');
      await writeFile(pom, projectFile());
      const goal = 'dependency:copy-dependencies';
      await runLogged('neo4j', 'mvn', [
        '-B',
        '-f',
        pom,
        goal,
        `-DoutputDirectory=${partial}`,
        '-DincludeScope=runtime',
      ]);
      await rm(pom);
    }),

  version,

  async prepare(_state, port) {
    const home = folder('data', `neo4j-${version()}`);
    await mkdir(join(home, 'conf'), { recursive: true, mode: 0o700 });
    await writeFile(join(home, 'conf', 'neo4j.conf'), configuration(port));
    const jvmOptions = ['-Xms512m', '-Xmx512m', ...ADD_OPENS, '-cp', join(jarFolder(), '*')];
    const main = `org.neo4j.server.${isVersion5() ? 'CommunityEntryPoint' : 'Neo4jCommunity'}`;
    const options = [`--home-dir=${home}`, `--config-dir=${join(home, 'conf')}`, '--console-mode'];
    const { JDK_JAVA_OPTIONS } = process.env;
    const env = JDK_JAVA_OPTIONS === undefined ? {} : { JDK_JAVA_OPTIONS };
    return { command: java(), args: [...jvmOptions, main, ...options], cwd: home, env };
  },

  async checkReady({ passwords }, port) {
    try {
      await withDriver(port, passwords.neo4j, (driver) => driver.executeQuery('RETURN 1', {}, { database: 'neo4j' }));
    } catch (error) {
      if (!(error instanceof Neo4jError && error.code === 'Neo.ClientError.Security.Unauthorized')) throw error;
      const change = 'ALTER CURRENT USER SET PASSWORD FROM $initial TO $password';
      const parameters = { initial: INITIAL_PASSWORD, password: passwords.neo4j };
      await withDriver(port, INITIAL_PASSWORD, (driver) =>
        driver.executeQuery(change, parameters, { database: 'system' }),
      );
    }
  },
};

function javaVersion(): number {
  const { stderr } = spawnSync(java(), ['-version'], { encoding: 'utf8' });
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0);
}

/** Returns a Maven project with the database and the Bolt server, which are separate artifacts. */
function projectFile(): string {
  const dependency = (group: string, name: string) =>
    `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version()}</version></dependency>`;
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>services</groupId><artifactId>neo4j</artifactId><version>1</version>
  <dependencies>
    ${dependency('org.neo4j', 'neo4j')}
    ${dependency('org.neo4j.app', 'neo4j-server')}
  </dependencies>
</project>
`;
}

/** Returns a configuration that uses only loopback and little memory. The quiet period of 0 saves five seconds at each stop. */
function configuration(port: number): string {
  return `server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:${port}
server.bolt.advertised_address=127.0.0.1:${port}
server.http.enabled=false
server.https.enabled=false
dbms.usage_report.enabled=false
server.memory.pagecache.size=128m
db.tx_log.preallocate=false
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
`;
}

async function withDriver(port: number, password: string, use: (driver: Driver) => Promise<unknown>): Promise<void> {
  const driver = neo4jDriver.driver(`bolt://127.0.0.1:${port}`, neo4jDriver.auth.basic('neo4j', password), {
    connectionTimeout: 3000,
    connectionAcquisitionTimeout: 3000,
    maxTransactionRetryTime: 0,
    telemetryDisabled: true,
  });
  try {
    await use(driver);
  } finally {
    await driver.close();
  }
}
