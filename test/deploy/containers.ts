import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';
import { findCommand } from '../../scripts/services/programs.js';
import { collectOutput } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

/** The required programs; their packages have the same names. runc needs no systemd and works with any version of cgroups. */
const PROGRAMS = ['buildah', 'mmdebstrap', 'podman', 'runc'];

/** Test options that skip a test where no image can be built. */
export const needsContainers = { skip: whyNoContainers() };

function whyNoContainers(): string | false {
  if (process.platform !== 'linux') return 'only Linux has containers';
  if (process.getuid?.() !== 0) return 'only root can build the base image';
  const missing = PROGRAMS.filter((program) => !findCommand(program));
  return missing.length > 0 && `needs ${missing.join(', ')}: apt-get install ${PROGRAMS.join(' ')}`;
}

/** The options of the README, with the network of this machine. Without systemd, podman would log an error each time. */
const RUN_OPTIONS = [
  ...['--log-level=fatal', 'run', '--network=host', '--read-only', '--read-only-tmpfs=false'],
  ...['--cap-drop=all', '--security-opt=no-new-privileges'],
];

/** podman's default limits may exceed those of this machine. */
const CONFIGURATION = `
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
`;

export type Containers = Awaited<ReturnType<typeof buildImage>>;
export type Container = Awaited<ReturnType<Containers['start']>>;

/** Builds the image in a separate container storage, which is deleted when the test ends. */
export async function buildImage(t: Test) {
  const directory = await temporaryDirectory(t);
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  const storage = `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/storage"\nrunroot = "${directory}/run"\n`;
  const env = {
    ...process.env,
    CONTAINERS_CONF: await file('containers.conf', CONFIGURATION),
    CONTAINERS_STORAGE_CONF: await file('storage.conf', storage),
  };
  t.teardown(() => promisify(execFile)('umount', ['--lazy', `${directory}/storage/overlay`]).catch(() => undefined));
  const tag = `test-${randomBytes(4).toString('hex')}`;
  await promisify(execFile)('scripts/deploy/build-image.sh', [tag], { env });
  const image = `localhost/${tag}`;

  /** Runs `podman`, and returns its output. Throws if it fails. */
  const podman = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('podman', args, { env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };

  /** Starts a container, which is removed when the test ends. */
  const launch = (args: readonly string[]) => {
    const name = `test-${randomBytes(4).toString('hex')}`;
    const child = spawn('podman', [...RUN_OPTIONS, `--name=${name}`, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = collectOutput(child);
    t.teardown(() => podman('rm', '--force', '--volumes', name));
    const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
    return { name, child, ended, output };
  };

  return {
    image,
    podman,
    /** Runs a command in a new container to its end. */
    async run(options: readonly string[], ...command: string[]) {
      const { ended, output } = launch([...options, image, ...command]);
      return { code: await ended, output: output() };
    },
    /** Starts the service in a new container on free ports, and waits for this output, by default its addresses. */
    async start(options: readonly string[], until = /"msg":"started"/) {
      const [port, opsPort] = [await findFreePort(), await findFreePort()];
      const variables = { HOST: '127.0.0.1', PORT: port, OPS_HOST: '127.0.0.1', OPS_PORT: opsPort };
      const settings = Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`);
      const { name, child, ended, output } = launch([...settings, ...options, image]);
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', () => until.test(output()) && resolve());
        void ended.then(() => reject(new Error(`the container ended:\n${output()}`)));
      });
      return {
        name,
        url: `http://127.0.0.1:${port}`,
        opsUrl: `http://127.0.0.1:${opsPort}`,
        output,
        /** Stops the container as `podman stop` does, and returns its exit code. */
        async stop() {
          await podman('stop', '--time=120', name);
          return ended;
        },
      };
    },
  };
}
