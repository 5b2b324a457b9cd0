import { stat } from 'node:fs/promises';
import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { PASSWORD, startTestService } from './harness.js';
import { onServices } from './stores.js';
import { openConnection } from './wire.js';

const service = await startTestService(t);
const BOUNDARY = 'a-boundary';
const part = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Sends the head and the first half of a form, and answers a function that sends the rest and reads the status. */
async function halfSent(method: string, path: string, token: string, fields: Record<string, string>) {
  const body = `${Object.entries(fields)
    .map(([name, value]) => part(name, value))
    .join('')}--${BOUNDARY}--\r\n`;
  const half = body.length >> 1;
  const { socket, received, until } = openConnection(t, service.url);
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}`;
  // The interim answer tells that the request is under way, and so authenticated for the first time or about to be.
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await until(/100 Continue\r\n\r\n/);
  socket.write(body.slice(0, half));
  return async () => {
    socket.write(body.slice(half));
    await until(/100 Continue\r\n\r\nHTTP\/1.1 \d{3}/);
    return Number(/100 Continue\r\n\r\nHTTP\/1.1 (\d{3})/.exec(received())?.[1]);
  };
}

t.test('a session that ends while its request is still being sent does nothing more', async (t) => {
  const ada = await service.person();
  const create = await halfSent('POST', '/posts/create', ada.token, { title: 'late', text: 'late' });
  const rename = await halfSent('PUT', '/profiles/me', ada.token, { name: 'Somebody else' });
  const form = { password: 'Other-Lantern-81!', current_password: PASSWORD };
  t.equal((await ada.ask('PUT', '/profiles/me', { form })).status, 200);
  t.equal(await create(), 401);
  t.equal(await rename(), 401);
  const row = await service.stores.read.account(ada.id);
  t.equal(row?.name, ada.name);
  const posts = await service.stores.db.selectFrom('posts').select('id').where('author_id', '=', ada.id).execute();
  t.same(posts, []);
});

t.test('an endless body is cut off once its request has been answered', async (t) => {
  const { socket, received, closed } = openConnection(t, service.url);
  const chunk = `40000\r\n${'x'.repeat(0x40000)}\r\n`;
  socket.write('POST /nope HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  const send = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', send);
  send();
  await closed;
  t.match(received(), /^HTTP\/1.1 404/, 'its sender has the answer');
});

t.test('garbage behind a request is never answered in place of it', async (t) => {
  const json = JSON.stringify({ email: 'nobody@people.example', password: PASSWORD });
  const head = `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${json.length}`;
  const { socket, received, closed } = openConnection(t, service.url);
  socket.write(`${head}\r\n\r\n${json}GARBAGE\r\n\r\n`);
  await closed;
  t.notMatch(received(), /400 Bad Request/);
});

t.test('bytes that are no HTTP are answered in the shape of every error, with an id that is in the log', async (t) => {
  const { socket, received, closed } = openConnection(t, service.url);
  socket.write('GARBAGE\r\n\r\n');
  await closed;
  const [, id = 'none'] = /X-Request-Id: (\S+)/.exec(received()) ?? [];
  t.match(received(), /^HTTP\/1.1 400 [\s\S]*\{"message":"[^"]+"\}$/);
  t.ok(service.logged().includes(id));
});

t.test('a client that hangs up in the middle of its body is no fault of the service', async (t) => {
  const { socket, until } = openConnection(t, service.url);
  const head = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n';
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  await until(/100 Continue/);
  const before = service.logged().length;
  socket.write('{"email"');
  socket.destroy();
  // By the time that others have had their answers, the service has seen it go.
  for (let asked = 0; asked < 3; asked += 1) await service.person();
  t.notMatch(service.logged().slice(before), /"level":50/);
});

t.test('what is stored is for the owner of the process alone', async (t) => {
  const { directory } = service.stores;
  const ada = await service.person();
  const image = new Blob([samples.png], { type: 'image/png' });
  await ada.ask('POST', '/posts/create', { form: { title: 'T', text: 'T', image } });
  const own = onServices ? [] : [directory.postgres];
  for (const path of [...own, directory.images, directory.uploads]) {
    t.equal((await stat(path)).mode & 0o777, 0o700, path);
  }
});
