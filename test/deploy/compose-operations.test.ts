import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { findFreePort } from '../../scripts/services/ports.js';
import { createSender } from '../support/http.js';
import { needsProgram, script, spawnService, untilListening } from '../support/processes.js';
import { startServerSet, whyNoServerSets } from '../support/server-sets.js';
import { LONG_TIMEOUTS, picture } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { registerUser } from '../support/users.js';
import { startOnFreePort, startProgram } from './programs.js';

/*
 * Runs the commands of README.md, section “Compose”. Instead of Docker, a script runs the command of each container with the
 * programs of this machine.
 */

const FOLDER = join('scripts', 'deploy');

/** Returns the blocks of commands of a subsection. */
async function readBlocks(title: string): Promise<string[]> {
  const page = await readFile(join(FOLDER, 'README.md'), 'utf8');
  const section = page.split(/^### /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
}

/** Runs `setup.sh` with volumes in a directory, as the container `setup` does. */
const SETUP = `
for user in POSTGRES NEO4J REDIS S3 SERVICE GRAFANA CADDY; do export "\${user}_USER_ID=$(id -u):$(id -g)"; done
mkdir -p "$VOLUMES"/secrets "$VOLUMES"/s3 "$VOLUMES"/caddy "$VOLUMES"/prometheus
SITE=localhost sh "$DEPLOY/setup.sh" "$VOLUMES"/secrets "$VOLUMES"/s3 "$VOLUMES"/caddy "$VOLUMES"/prometheus`;

/** Creates the role and the database as the first start of the container `postgres` does. */
const CREATE_DATABASE = `
sed "s|/run/secrets|$VOLUMES/secrets|" "$DEPLOY/postgres.sql" | psql --quiet --no-psqlrc -v ON_ERROR_STOP=1 "$ADMINISTRATOR_URL"`;

const DOCKER = `#!/bin/bash
set -euo pipefail
shift
case "$*" in
  'run --rm setup') ${SETUP} ;;
  'run --rm -T setup tar '*) exec "\${@:5:3}" "$VOLUMES" "\${@:9}" ;;
  'up -d --wait postgres') ${CREATE_DATABASE} ;;
  'exec -T postgres '*) PGPASSWORD=$(cat "$VOLUMES/secrets/postgres-service-password") exec "\${@:4}" ;;
  'stop neo4j' | 'start neo4j') exec node "$SERVICES" "$@" ;;
  'run --rm -T --entrypoint neo4j-admin neo4j '*) exec neo4j-admin "\${@:7}" ;;
  'run --rm -T service-1 node '*) node "$SERVICES" start neo4j >&2 && exec node "$BUILD/$6" "\${@:7}" ;;
  'kill -s HUP prometheus') kill -HUP "$(cat "$VOLUMES/prometheus.pid")" ;;
  'exec caddy '*) exec "\${@:3:3}" "\${6/#\\/data/$VOLUMES/caddy}" ;;
  'build service-1' | 'up -d --wait') ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
`;

type Compose = Awaited<ReturnType<typeof createCompose>>;

/** Returns a function that runs commands of the page in a shell with `docker`. */
async function createCompose(t: Test, volumes: string, deploy: string, environment: NodeJS.ProcessEnv) {
  const bin = await temporaryDirectory(t);
  await writeFile(join(bin, 'docker'), DOCKER, { mode: 0o755 });
  const variables: NodeJS.ProcessEnv = {
    ...environment,
    PATH: [bin, environment.PATH ?? process.env.PATH].join(delimiter),
    VOLUMES: volumes,
    DEPLOY: deploy,
    BUILD: resolve('.build'),
    SERVICES: resolve(script('services/index')),
  };
  return {
    variables,
    async run(commands: string): Promise<string> {
      const options = { env: variables, cwd: deploy };
      const { stdout } = await promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', commands], options);
      return stdout;
    },
  };
}

/** Starts a set of servers with the volumes of the containers. */
async function startServers(t: Test) {
  const servers = await startServerSet(t);
  const { variables, environment, path, data } = servers;
  const { hostname, port } = new URL(variables.DATABASE_URL ?? '');
  const compose = await createCompose(t, data, resolve(FOLDER), {
    ...variables,
    ...environment,
    ...LONG_TIMEOUTS,
    PATH: path,
    HOME: process.env.HOME,
    ADMINISTRATOR_URL: variables.DATABASE_URL,
    PGHOST: hostname,
    PGPORT: port,
    DATA_DIR: await temporaryDirectory(t),
  });
  return { servers, compose };
}

/** Sets the variables of the service whose values are in the volume `secrets`. */
async function useSecrets({ variables }: Compose): Promise<void> {
  const directory = join(variables.VOLUMES ?? '', 'secrets');
  const url = new URL(variables.ADMINISTRATOR_URL ?? '');
  const password = (await readFile(join(directory, 'postgres-service-password'), 'utf8')).trim();
  Object.assign(url, { username: 'social', password, pathname: '/social' });
  variables.DATABASE_URL = url.href;
  variables.TOKEN_KEYS = '';
  variables.TOKEN_KEYS_FILE = join(directory, 'token-keys');
}

t.test('a backup is restored onto new servers', { skip: await whyNoServerSets() }, async (t) => {
  const backup = join(await temporaryDirectory(t), 'backup');
  const blocks = (await readBlocks('Backup and restore')).map((text) => text.replaceAll('BACKUP', backup));
  const [copy = '', dumpNeo4j = '', restore = '', repair = ''] = blocks;
  const { compose } = await startServers(t);
  await compose.run('docker compose run --rm setup; docker compose up -d --wait postgres');
  await useSecrets(compose);
  const service = await untilListening(spawnService(t, compose.variables));
  const user = await registerUser(t, service.url);
  const form = { title: 'T', text: 'T', image: picture() };
  const create = async () => (await user.send('POST', '/posts/create', { form })).body;
  const post = await create();
  await user.send('POST', `/posts/like?id=${post.id}`);
  await compose.run(copy);
  await compose.run(dumpNeo4j);
  const lost = await create();
  await service.end('SIGTERM');

  const { servers, compose: restored } = await startServers(t);
  await servers.stop('neo4j');
  await restored.run(restore);
  await useSecrets(restored);
  t.match(await restored.run(repair), /The stores agree\.\s*$/);
  const { url } = await untilListening(spawnService(t, restored.variables));
  const send = createSender(t, url);
  const { token } = user;
  t.match(await send('GET', `/posts/${post.id}`, { token }), {
    status: 200,
    body: { like_count: 1, liked_by_me: true },
  });
  t.ok((await send('GET', post.image, { token })).bytes.equals(samples.png));
  t.equal((await send('GET', `/posts/${lost.id}`, { token })).status, 404);
});

const needsProxyAndPrometheus = { skip: needsProgram('caddy').skip || needsProgram('prometheus').skip };

t.test('an upgrade replaces the alert rules and the configuration of the proxy', needsProxyAndPrometheus, async (t) => {
  const [directory, volumes] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  const deploy = join(directory, 'deploy');
  await cp(FOLDER, deploy, { recursive: true });
  const ports: string[] = [];
  while (ports.length < 4) ports.push(String(await findFreePort()));
  const [HTTP_PORT, HTTPS_PORT, METRICS_PORT, adminPort] = ports;
  const compose = await createCompose(t, volumes, deploy, {
    ...{ HTTP_PORT, HTTPS_PORT, METRICS_PORT, CADDY_ADMIN: `127.0.0.1:${adminPort}`, BIND: '127.0.0.1' },
    ...{ HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  });
  await compose.run('docker compose run --rm setup');
  const caddyfile = join(volumes, 'caddy', 'Caddyfile');
  await startProgram(t, 'caddy', ['run', '--config', caddyfile], [/serving initial configuration/], compose.variables);
  const start = ['-c', 'echo $$ >"$0"; exec prometheus "$@"', join(volumes, 'prometheus.pid')];
  const data = `--storage.tsdb.path=${join(directory, 'data')}`;
  const configuration = `--config.file=${join(volumes, 'prometheus', 'prometheus.yaml')}`;
  const prometheus = await startOnFreePort(t, 'sh', [...start, configuration, data]);

  const rules = join(deploy, 'prometheus', 'alerts.yaml');
  await writeFile(rules, (await readFile(rules, 'utf8')).replace('alert: ServiceDown', 'alert: NewRule'));
  const proxy = join(deploy, 'Caddyfile');
  await writeFile(proxy, (await readFile(proxy, 'utf8')).replace('metrics /metrics', '$&\n\trespond /new new'));
  const [, build = '', reload = ''] = await readBlocks('Restart, upgrade and token keys');
  await compose.run(build);
  await compose.run(reload);
  await until(async () => (await (await fetch(`${prometheus}/api/v1/rules`)).text()).includes('NewRule'));
  t.equal(await (await fetch(`http://127.0.0.1:${METRICS_PORT}/new`)).text(), 'new');
});
