import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openCluster } from '../../db/postgres/embedded/cluster.js';
import { samples } from '../../scripts/contract-test/client/index.js';
import { recordFileOperations } from '../support/file-operations.js';
import { needsProgram, startProcess } from '../support/processes.js';
import { freshDataDirectory, temporaryDirectory } from '../support/stores.js';
import { PASSWORD, registerUser } from '../support/users.js';

const needsLinux = { skip: process.platform !== 'linux' && 'only Linux shows the paths of open files' };

/* What survives a power cut is what was forced to the disk, so the calls of fsync before each response are observed. */

t.test('every acknowledged write was forced to the disk before its response', needsProgram('strace'), async (t) => {
  const DATA_DIR = await temporaryDirectory(t);
  const service = await startProcess(t, { DATA_DIR });
  const user = await registerUser(t, service.url);
  const other = await registerUser(t, service.url);

  const traceFile = join(await temporaryDirectory(t), 'trace');
  const attach = ['-f', '-y', '-e', 'trace=fsync', '-o', traceFile, '-p', String(service.child.pid)];
  const tracer = spawn('strace', attach, { stdio: ['ignore', 'ignore', 'pipe'] });
  t.teardown(() => tracer.kill());
  await once(tracer.stderr, 'data');

  /** Returns the files and directories that were forced to the disk, relative to the data directory. */
  const synced = async () =>
    [...(await readFile(traceFile, 'utf8')).matchAll(/fsync\(\d+<([^>]+)>(?:\)| <unfinished)/g)].map(([, path = '']) =>
      path.replace(`${DATA_DIR}/`, ''),
    );

  /** Sends a write. Returns the body of its response, and what was forced to the disk meanwhile. */
  async function write(method: string, path: string, options: Parameters<typeof user.send>[2] = {}) {
    const before = (await synced()).length;
    const response = await user.send(method, path, options);
    const paths = (await synced()).slice(before);
    t.ok(response.status < 300, `${method} ${path}: ${response.status}`);
    t.ok(
      paths.some((synced) => synced.startsWith('postgres/pg_wal/')),
      `${method} ${path} is in the write-ahead log`,
    );
    return { body: response.body, paths };
  }

  function expectImage({ body, paths }: Awaited<ReturnType<typeof write>>) {
    const name = (body.image ?? body.profile_link).split('/').at(-1);
    t.ok(paths.includes('images'), 'the directory of the images');
    t.ok(
      paths.some((path) => path.endsWith(name) || path.startsWith('uploads/')),
      'the image, under its name or before it was moved',
    );
  }

  const image = new Blob([new Uint8Array(samples.png)], { type: 'image/png' });
  const { id } = (await write('POST', '/posts/create', { form: { title: 'A title', text: 'A text' } })).body;
  expectImage(await write('POST', '/posts/create', { form: { title: 'A title', text: 'A text', image } }));
  expectImage(await write('PUT', `/posts/edit?id=${id}`, { form: { image } }));
  expectImage(await write('PUT', '/profiles/me', { form: { image } }));
  await write('POST', `/posts/like?id=${id}`);
  await write('DELETE', `/posts/like?id=${id}`);
  await write('POST', `/friends/request?to=${other.id}`);
  await write('POST', `/friends/cancel?to=${other.id}`);
  await write('DELETE', `/posts/delete?id=${id}`);
  await write('POST', '/auth/login', { json: { email: user.email, password: PASSWORD } });
  await write('POST', '/auth/logout');
});

t.test('a new file of the database is forced to the disk together with its directory', needsLinux, async (t) => {
  const directory = join(await freshDataDirectory(t), 'postgres');
  const pglite = await openCluster(directory);
  t.teardown(() => pglite.close());
  const operations = await recordFileOperations(t, directory);
  await pglite.exec('select pg_switch_wal()');
  await pglite.exec('create table new_table (id int)');
  const file = operations.findLast((operation) => operation.startsWith('sync pg_wal/')) ?? '';
  const [created] = (await pglite.query<{ path: string }>("select pg_relation_filepath('new_table') as path")).rows;
  await pglite.exec('checkpoint');
  t.ok(operations.includes(`sync ${created?.path}`), 'the file of the table');
  t.ok(operations.includes(`sync ${dirname(created?.path ?? '')}`), 'its directory');
  t.match(operations[operations.indexOf(file) - 1], /^sync pg_wal$/, 'the directory of the write-ahead log');
});
