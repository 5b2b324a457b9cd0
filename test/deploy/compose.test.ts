import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import t, { type Test } from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { loadSecretFiles } from '../../handlers/config/secret-files.js';
import { findFreePort } from '../../scripts/services/ports.js';
import { findCommand } from '../../scripts/services/programs.js';
import { ensureGoProgram } from '../../scripts/support/go.js';
import { toolsFolder } from '../../scripts/support/tools-folder.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

const FOLDER = join('scripts', 'deploy');

/** The library with which Docker Compose loads its files. Its command checks a file's schema and the references in the file. */
const COMPOSE_GO_VERSION = 'v2.16.2';
const COMPOSE_GO_PACKAGE = 'github.com/compose-spec/compose-go/v2/cmd';
const composeGoFolder = toolsFolder('compose-go', COMPOSE_GO_VERSION);

/** The elements `services` and `networks` of the file. */
// biome-ignore lint/suspicious/noExplicitAny: compose-go has validated the file by its schema.
type ComposeModel = Record<'services' | 'networks', Record<string, any>>;

const needsGo = {
  skip: !existsSync(composeGoFolder) && !findCommand('go') && 'needs go: apt-get install golang',
};

/** Validates the Compose file. Returns its model, with the defaults of its variables. */
async function loadComposeFile(...options: string[]): Promise<ComposeModel> {
  const composeGo = await ensureGoProgram(composeGoFolder, COMPOSE_GO_PACKAGE, COMPOSE_GO_VERSION);
  const { stdout } = await run(composeGo, ['-format', 'json', ...options, 'compose.yaml'], { cwd: FOLDER });
  return JSON.parse(stdout);
}

t.test('the file is valid, and every container is confined', needsGo, async (t) => {
  const { services, networks } = await loadComposeFile();
  for (const [name, service] of Object.entries(services)) {
    // The first container prepares the volumes of all others, without a network.
    const isSetup = name === 'setup';
    t.same(service.cap_drop, ['ALL'], `${name} has no capabilities of Docker's defaults`);
    t.same(service.security_opt, ['no-new-privileges:true'], name);
    t.equal(service.read_only ?? false, name !== 'neo4j', `${name} cannot change its image`);
    if (isSetup) t.equal(service.network_mode, 'none');
    else t.match(service.user, /^[1-9]\d*:\d+$/, `${name} is not root`);
    t.match(
      service.image,
      service.build ? /^[\w-]+$/ : /^docker\.io\/[\w/-]+:v?\d+\.\d+[\w.-]*$/,
      'a version is pinned',
    );
    if (service.restart !== 'no' && !service.build) t.ok(service.healthcheck, `${name} has a health check`);
    for (const [variable, value] of Object.entries(service.environment ?? {}))
      if (/PASSWORD|SECRET|TOKEN|AUTH/.test(variable) && value !== null)
        t.match(value, /^\/run\/secrets\//, `${name}: ${variable} names a file`);
    for (const { type, source } of service.volumes ?? []) if (type === 'bind') t.ok(existsSync(source), source);
    if (service.build) t.ok(existsSync(join(service.build.context, service.build.dockerfile)));
    for (const { condition } of Object.values<Record<string, unknown>>(service.depends_on ?? {}))
      t.not(condition, 'service_started', name);
  }
  t.match(await readFile(join(FOLDER, 'Containerfile'), 'utf8'), /^HEALTHCHECK /m, 'the service has a health check');

  const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map(({ target, host_ip = 'all' }: Record<string, unknown>) => `${name} ${target} ${host_ip}`),
  );
  t.same(published.sort(), ['caddy 443 all', 'caddy 80 all', 'grafana 3000 127.0.0.1']);
  for (const name of ['api', 'stores', 'monitoring']) t.equal(networks[name].internal, true, name);
  for (const name of ['postgres', 'neo4j', 's3', 's3-bucket', 'redis'])
    t.same(Object.keys(services[name].networks), ['stores']);
});

t.test('each secret belongs to the user of one container', needsGo, async (t) => {
  const { services } = await loadComposeFile();
  const owners = Object.entries(services.setup.environment).filter(([name]) => name.endsWith('_USER_ID'));
  t.equal(new Set(owners.map(([, id]) => id)).size, owners.length);
  for (const [name, id] of owners) {
    const container = name.replace('_USER_ID', '').toLowerCase();
    t.equal((services[container] ?? services[`${container}-1`]).user, id, container);
  }
  t.equal(services['service-1'].user, services['service-2'].user);
});

t.test('the service trusts the address from which the proxy reaches it, and load balancers', needsGo, async (t) => {
  const { services } = await loadComposeFile();
  const template = (await loadComposeFile('-no-interpolation')).services;
  const { caddy } = services;
  const address = caddy.networks.api.ipv4_address;
  const upstreams = caddy.environment.UPSTREAMS.split(' ');
  for (const [index, name] of ['service-1', 'service-2'].entries()) {
    const { environment, networks } = services[name];
    t.same(readConfig({ TRUST_PROXY: environment.TRUST_PROXY }).trustProxy, [address]);
    t.ok(template[name].environment.TRUST_PROXY.endsWith(` ${template.caddy.environment.TRUST_PROXY}`));
    // If the name were known in another network too, the proxy could connect from its address in that network.
    const { api, ...otherNetworks } = networks;
    const [alias] = api.aliases;
    t.equal(upstreams[index], `${alias}:3000`);
    t.notMatch(JSON.stringify(otherNetworks), alias, 'an alias of one network only');
  }
  t.match(template.caddy.environment.TRUST_PROXY, /^\$\{TRUST_PROXY:-\}$/);
});

/** Runs `setup.sh`, and returns the secrets as `file: text`. */
async function runSetup(t: Test, directory: string): Promise<Record<string, string>> {
  const folders = ['secrets', 's3', 'caddy', 'prometheus'].map((name) => join(directory, name));
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const owner = `${process.getuid?.()}:${process.getgid?.()}`;
  const users = ['POSTGRES', 'NEO4J', 'REDIS', 'S3', 'SERVICE', 'GRAFANA', 'CADDY'].map((name) => [
    `${name}_USER_ID`,
    owner,
  ]);
  const env = { PATH: process.env.PATH, SITE: 'social.example', ...Object.fromEntries(users) };
  execFileSync('sh', [join(FOLDER, 'setup.sh'), ...folders], { env });
  const secrets = join(directory, 'secrets');
  const contents: Record<string, string> = {};
  for (const file of await readdir(secrets, { recursive: true })) {
    const status = await stat(join(secrets, file));
    if (!status.isFile() || file.startsWith('root/')) continue;
    contents[file] = await readFile(join(secrets, file), 'utf8');
    t.equal(status.mode & 0o777, 0o400, `only one user can read ${file}`);
  }
  return contents;
}

t.test('the first start creates secrets that the service accepts, and a later start keeps them', needsGo, async (t) => {
  const directory = await temporaryDirectory(t);
  const secrets = await runSetup(t, directory);
  const values = Object.values(secrets).flatMap((text) => text.match(/[\da-f]{64}/g) ?? []);
  t.equal(new Set(values).size, 8, 'a secret each for four stores, two administrators, the tokens and Grafana');
  const { services } = await loadComposeFile();
  const { environment } = services['service-1'];
  const variables: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries<string | null>(environment).map(([name, value]) => [
      name,
      value?.replace('/run/secrets', join(directory, 'secrets')),
    ]),
  );
  loadSecretFiles(variables);
  for (const [file, value] of [
    ['postgres-service-password', new URL(variables.DATABASE_URL ?? '').password],
    ['neo4j-auth', variables.NEO4J_PASSWORD],
    ['redis.conf', new URL(variables.REDIS_URL ?? '').password],
    ['s3-users/users.json', variables.AWS_SECRET_ACCESS_KEY],
  ] as const)
    t.ok(value && secrets[file]?.includes(value), `the service and ${file} have the same secret`);
  const config = readConfig(variables);
  t.equal(config.publicUrl.href, 'https://localhost/');
  const { postgres, neo4j, s3 } = config.stores;
  for (const url of [postgres?.url, neo4j?.uri, s3?.endpoint, config.redis?.url])
    t.ok(services[new URL(url ?? '').hostname], 'each store is a container');
  t.equal(await readFile(join(directory, 'prometheus', 'site.yaml'), 'utf8'), '- targets: ["social.example"]\n');
  t.ok((await stat(join(directory, 's3', s3?.bucket ?? ''))).isDirectory());

  const copied = await readFile(join(directory, 'caddy', 'Caddyfile'), 'utf8');
  t.equal(copied, await readFile(join(FOLDER, 'Caddyfile'), 'utf8'));
  t.same(await runSetup(t, directory), secrets);
});

/** The S3 server of `npm run services`. */
const s3Server = join(process.env.SERVICES_DIR ?? '', 's3', 'v1.8.0');
const needsS3Server = { skip: needsGo.skip || (!process.env.SERVICES_DIR && 'needs SERVICES_DIR: npm run services') };

t.test('the service has a key for its bucket, which permits nothing else', needsS3Server, async (t) => {
  const directory = await temporaryDirectory(t);
  await runSetup(t, directory);
  const { services } = await loadComposeFile();
  const port = await findFreePort();
  /** Returns the command of a container, with paths and addresses of this machine. */
  const commandOf = ({ entrypoint, command }: { entrypoint: string[]; command: string[] }) =>
    [...entrypoint, ...command].map((text) =>
      text
        .replace('$$', '$')
        .replace('/run/secrets', join(directory, 'secrets'))
        .replace(/^\/data$/, join(directory, 's3'))
        .replace(/^:7070$/, `127.0.0.1:${port}`)
        .replace('s3:7070', `127.0.0.1:${port}`),
    );
  const env = { PATH: `${s3Server}:${process.env.PATH}` };
  const [program = '', ...args] = commandOf(services.s3);
  const server = spawn(program, args, { env, stdio: 'ignore' });
  t.teardown(() => server.kill('SIGKILL'));
  await until(() =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const [giveBucket = '', ...options] = commandOf(services['s3-bucket']);
  const run = () => execFileSync(giveBucket, options, { env, stdio: 'pipe' });
  run();
  run();

  const secretAccessKey = (await readFile(join(directory, 'secrets', 's3-secret-key'), 'utf8')).trim();
  const { AWS_ACCESS_KEY_ID: accessKeyId, S3_BUCKET: Bucket } = services['service-1'].environment;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
  });
  t.teardown(() => client.destroy());
  await client.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'text' }));
  t.equal((await client.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 1);
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'key' }));
  await t.rejects(client.send(new CreateBucketCommand({ Bucket: 'other' })), { name: 'AccessDenied' });
});

t.test('the commands that rotate the token keys have the effect that the runbook describes', async (t) => {
  const directory = await temporaryDirectory(t);
  const old = (await runSetup(t, directory))['token-keys'];
  const page = await readFile(join(FOLDER, 'README.md'), 'utf8');
  const commands = [...page.matchAll(/^(.*)docker compose run --rm (?:-T )?setup ((?:tee|sed) .*)$/gm)];
  const keys: (string | undefined)[] = [];
  for (const [, before = '', command = ''] of commands) {
    execFileSync('sh', ['-c', before + command.replace('/volumes', directory)]);
    keys.push((await runSetup(t, directory))['token-keys']);
  }
  const added = keys[2] ?? '';
  t.match(added, /^NEW:[\da-f]{64}\n$/);
  t.same(keys, [`${old}${added}`, `${added}${old}`, added]);
});
