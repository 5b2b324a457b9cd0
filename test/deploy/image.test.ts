import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { createSender } from '../support/http.js';
import { claimGraphFor, freshStores, needsServers } from '../support/stores.js';
import { PASSWORD, registerUser } from '../support/users.js';
import { buildImage, type Container, type Containers, needsContainers } from './containers.js';

// On a busy machine, the build takes minutes.
t.setTimeout(1_800_000);

const MAX_IMAGE_BYTES = 350e6;

/**
 * Limits so high that the contract tests skip the rules that exceed them. On a busy machine, the windows of low limits would
 * end before a rule has sent enough requests.
 */
const LIMITS = ['--env=RATE_LIMIT_STRICT_MAX=1000000', '--env=RATE_LIMIT_MAX=1000000'];

/** The rules that depend on native modules, installed lists, or files of the image. The others are checked elsewhere. */
const RULES_OF_IMAGE = /^(accounts|http|images|passwords|uploads)\./;

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const packageJson = readJson('package.json');
const lockFile = readJson('package-lock.json') as { packages: Record<string, { dev?: boolean }> };

/** Creates a volume, which is removed when the test ends, and returns the option that mounts it. */
async function createVolume(t: Test, { podman }: Containers): Promise<string> {
  const name = (await podman('volume', 'create')).trim();
  t.teardown(() => podman('volume', 'rm', '--force', name));
  return `--volume=${name}:/data`;
}

t.test('the image', needsContainers, async (t) => {
  const containers = await buildImage(t);
  const { image, podman, run, start } = containers;
  const isHealthy = ({ name }: Container) =>
    podman('healthcheck', 'run', name).then(
      () => true,
      () => false,
    );

  t.test('declares its user, volume, port, labels, command and health check', async (t) => {
    const [{ Config: config, Healthcheck: healthCheck, Size: bytes }] = JSON.parse(
      await podman('image', 'inspect', image),
    );
    t.match(config, {
      User: /^[1-9]\d*:[1-9]\d*$/,
      Volumes: { '/data': {} },
      ExposedPorts: { '3000/tcp': {} },
      Labels: {
        'org.opencontainers.image.title': /./,
        'org.opencontainers.image.version': packageJson.version,
        'org.opencontainers.image.licenses': packageJson.license,
      },
    });
    // As `npm start` runs it, after the build.
    t.equal(`exec ${config.Cmd.join(' ')}`, packageJson.scripts.start.split(' && ').at(-1).replace('.build/', ''));
    t.ok(healthCheck.Test.includes('node'));
    t.ok(bytes < MAX_IMAGE_BYTES, `${bytes} bytes`);
  });

  t.test('contains the service and its packages, and nothing else', async (t) => {
    const { output } = await run([], 'find', '/app', '/usr/local', '!', '-type', 'd');
    const files = output.trim().split('\n');
    const installed = files.flatMap(
      (file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(file)?.[1] ?? [],
    );
    t.ok(installed.includes('fastify') && installed.includes('@electric-sql/pglite'));
    t.notOk(installed.includes('esbuild'));
    const isDevelopmentPackage = (file: string) => lockFile.packages[dirname(file).slice('/app/'.length)]?.dev === true;
    t.same(files.filter(isDevelopmentPackage), []);
    const own = files.filter((file) => !file.startsWith('/app/node_modules/'));
    t.same(
      own.filter((file) => /esbuild|npm|\/\.|\/test\/|\.ts$/.test(file)),
      [],
    );
    const { output: sbom } = await run([], 'cat', '/app/sbom.cdx.json');
    const { components } = JSON.parse(sbom) as { components: { name: string }[] };
    const names = (list: readonly string[]) => [...new Set(list)].sort();
    t.same(names(components.map(({ name }) => name)), names(installed));
  });

  t.test('lets the user of the service write to the data directory only', async (t) => {
    const script = 'id -u; touch /app/file || touch /tmp/file || touch /data/file && echo written';
    const { output } = await run([], 'sh', '-c', script);
    t.match(output, /^[1-9]\d*\n/);
    t.match(output, /\/app\/file.*Read-only/);
    t.match(output, /\/tmp\/file.*Read-only/);
    t.match(output, /^written$/m);
    const { output: writable } = await run([], 'find', '/app', '/usr', '-writable', '!', '-type', 'l');
    t.equal(writable, '');
  });

  t.test('passes contract tests with a read-only root, and keeps its data', async (t) => {
    const volume = await createVolume(t, containers);
    const first = await start([volume, ...LIMITS]);
    t.ok(await isHealthy(first));
    const { results } = await checkContract(first.url, { selects: ({ id }) => RULES_OF_IMAGE.test(id) });
    t.same(failuresIn(results), []);
    const passed = results.filter(({ verdict }) => verdict === 'passed').length;
    t.ok(passed > 150, `${passed} rules passed`);

    const { token } = await registerUser(t, first.url);
    t.equal(await first.stop(), 0);

    const second = await start([volume]);
    const { status } = await createSender(t, second.url)('GET', '/auth/me', { token });
    t.equal(status, 200, 'the session and the keys are still there');
    t.equal(await second.stop(), 0);
  });

  t.test('runs the commands of operators', async (t) => {
    const volume = await createVolume(t, containers);
    t.match(await run([volume], 'node', 'scripts/migrate.js'), { code: 0, output: /applied/ });
    const service = await start([volume]);
    const { email } = await registerUser(t, service.url);
    t.match(await podman('exec', service.name, 'node', 'scripts/admin.js', 'accounts', 'show', email), /^id /);
    const admin = (...args: string[]) => podman('exec', service.name, 'node', 'scripts/admin.js', ...args);
    await admin('accounts', 'disable', email, '--yes', '--operator', 'ada', '--reason', 'a test');
    await admin('accounts', 'enable', email);
    t.match(await admin('log'), /accounts enable .*\n.* ada +accounts disable .* a test\n/);
    await podman('exec', service.name, 'node', 'scripts/backup.js', '--to', '/data/backup.tar');
    t.equal(await service.stop(), 0);
    t.match(await run([volume], 'node', 'scripts/verify/index.js'), { code: 0 });

    const restored = await createVolume(t, containers);
    const source = `${volume.replace(':/data', ':/backup')}:ro`;
    t.match(await run([restored, source], 'node', 'scripts/restore.js', '--from', '/backup/backup.tar'), { code: 0 });
    const successor = await start([restored]);
    const login = { json: { email, password: PASSWORD } };
    t.equal((await createSender(t, successor.url)('POST', '/auth/login', login)).status, 200);
    t.equal(await successor.stop(), 0);
    t.match(await run([restored], 'node', 'scripts/doctor/index.js'), { output: /\d+ failed, \d+ warnings/ });
    t.match(await run([restored], 'node', 'scripts/move/index.js'), { output: /--to <file>/ });
  });

  t.test('is unhealthy if the service does not respond', async (t) => {
    const [{ Healthcheck: healthCheck }] = JSON.parse(await podman('image', 'inspect', image));
    t.match(await run([], ...healthCheck.Test.slice(1)), { code: 1, output: /ECONNREFUSED/ });
  });

  t.test('SIGTERM ends a start in progress', async (t) => {
    const container = await start([], /Creating a database/);
    t.equal(await container.stop(), 128 + constants.signals.SIGTERM);
  });

  t.test('runs on servers, and SIGTERM ends it', needsServers, async (t) => {
    const stores = { ...(await freshStores(t)), DATA_DIR: '/data' };
    await claimGraphFor(stores);
    const variables = Object.entries(stores).map(([name, value]) => `--env=${name}=${value}`);
    const service = await start(variables);
    t.ok(await isHealthy(service));
    await registerUser(t, service.url);
    t.equal(await service.stop(), 0);
  });
});
