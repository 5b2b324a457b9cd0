import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { runCommand, startAndFail, startProcess } from '../support/processes.js';
import { createSender, type TestResponse } from '../support/requests.js';
import { PASSWORD } from '../support/service.js';
import { freshDataDirectory, onServices, temporaryDirectory } from '../support/stores.js';

const MEBIBYTE = 2 ** 20;

/** Returns the reason why no file system can be mounted, or false. */
function reasonToSkip(): string | false {
  if (onServices) return 'applies only to embedded stores';
  if (process.platform !== 'linux') return 'only Linux has tmpfs';
  if (process.getuid?.() !== 0) return 'only root may mount a file system';
  try {
    // Root in a container may lack the capability.
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'no file system can be mounted here';
  }
}

/** Creates a data directory on a file system of 256 MiB that can be filled. */
async function smallDisk(t: Test) {
  const root = await temporaryDirectory(t);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', root]);
  t.teardown(() => execFileSync('umount', ['--lazy', root]));
  const dataDir = join(root, 'data');
  await mkdir(dataDir);
  await cp(await freshDataDirectory(t), dataDir, { recursive: true });
  const filler = join(root, 'filler');
  return {
    dataDir,
    /** Fills the disk up to this much free space. */
    async fill(mebibytes: number) {
      await rm(filler, { force: true });
      const { bavail, bsize } = await statfs(root);
      await writeFile(filler, Buffer.alloc(bavail * bsize - mebibytes * MEBIBYTE));
    },
    free: () => rm(filler),
  };
}

t.test('a full disk', { skip: reasonToSkip() }, async (t) => {
  const { dataDir, fill, free } = await smallDisk(t);
  const environment = { DATA_DIR: dataDir };
  let service = await startProcess(t, environment);
  let send = createSender(t, service.url);
  const startAgain = async () => {
    service = await startProcess(t, environment);
    send = createSender(t, service.url);
  };
  const email = 'user@people.example';
  const credentials = { json: { email, password: PASSWORD } };
  await send('POST', '/auth/register', { json: { name: 'Test User', username: 'user', email, password: PASSWORD } });
  const { token } = (await send('POST', '/auth/login', credentials)).body;
  const create = (image = false) => {
    const form = { title: 'T', text: 'T', ...(image && { image: new Blob([samples.png], { type: 'image/png' }) }) };
    return send('POST', '/posts/create', { token, form });
  };
  const acknowledged: number[] = [];
  /** Creates posts until one has this status. */
  async function createUntil(status: number): Promise<TestResponse> {
    for (let attempt = 0; attempt < 1000; attempt += 1) {
      const response = await create();
      if (response.status === 201) acknowledged.push(response.body.id);
      t.ok([201, 503].includes(response.status), String(response.status));
      if (response.status === status) return response;
      await sleep(20);
    }
    throw new Error(`no request returned ${status}`);
  }
  async function servesReads(t: Test): Promise<void> {
    const { status, body } = await send('GET', '/posts?limit=100', { token });
    t.equal(status, 200);
    t.same(body.map(({ id }: { id: number }) => id).sort(), [...acknowledged].sort());
  }
  await createUntil(201);
  const [first] = acknowledged;

  await t.test('writes return 503, and reads are served', async (t) => {
    await fill(48);
    const refused = await createUntil(503);
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    const writes = {
      'a post with an image': () => create(true),
      'a like': () => send('POST', `/posts/like?id=${first}`, { token }),
      'a login': () => send('POST', '/auth/login', credentials),
      'a logout': () => send('POST', '/auth/logout', { token }),
      'a change of the profile': () => send('PUT', '/profiles/me', { token, form: { name: 'Eve' } }),
    };
    for (const [write, sendWrite] of Object.entries(writes)) t.equal((await sendWrite()).status, 503, write);
    const uploads = await readdir(join(dataDir, 'uploads'), { recursive: true });
    t.same(
      uploads.filter((name) => name.endsWith('.upload')),
      [],
      'no upload remains',
    );
    await servesReads(t);
  });

  await t.test('after kill -9 and a restart reads are served and writes return 503', async (t) => {
    await service.end('SIGKILL');
    await startAgain();
    await servesReads(t);
    await createUntil(503);
  });

  await t.test('accepts writes once there is space, without a restart', async (t) => {
    await free();
    await createUntil(201);
    t.equal((await create(true)).status, 201);
    acknowledged.push((await send('GET', '/posts?limit=1', { token })).body[0].id);
    await servesReads(t);
  });

  await t.test('loses nothing when the disk fills up suddenly, and recovers', async (t) => {
    const filling = fill(0);
    await createUntil(503);
    await filling;
    await servesReads(t);
    await free();
    await createUntil(201);
    await servesReads(t);
  });

  await t.test('without space for a start, one line says what to do', async (t) => {
    await service.end('SIGKILL');
    await fill(8);
    const { code, output } = await startAndFail(t, environment);
    t.equal(code, 1);
    t.match(output, /^The disk of \S+ is full: \d+ MiB are free, and a start needs 32 MiB\. Free some space .*\n$/);
    await free();
    await startAgain();
    await servesReads(t);
    await createUntil(201);
  });

  t.equal(await service.end('SIGTERM'), 0);
  const verify = await runCommand(t, ['verify/index'], environment);
  t.equal(verify.code, 0, verify.output);
});
