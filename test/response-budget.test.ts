import { connect } from 'node:net';
import t from 'tap';
import { createImage } from '../scripts/bench/image.js';
import { pngBlob } from '../scripts/support/request.js';
import { scrape } from './support/prometheus.js';
import { createPost, startTestService, type TestUser } from './support/service.js';
import { until } from './support/until.js';

const service = await startTestService(t);
const { hostname, port } = new URL(service.url);

const unsentBytes = async () =>
  Number((await scrape(service.opsUrl)).value('http_large_response_bytes', { state: 'unsent' }));

const authorization = ({ token }: TestUser) => `Authorization: Bearer ${token}\r\n`;

/** Requests a path many times on one connection, reads no response while `work` runs, and then closes the connection. */
async function whileUnread(path: string, headers: string, work: () => Promise<unknown>): Promise<void> {
  const socket = connect(Number(port), hostname).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`.repeat(30));
  await until(async () => (await unsentBytes()) > 0);
  await work();
  socket.destroy();
  await until(async () => (await unsentBytes()) === 0);
}

t.test('large pages count towards the budget until they are read, and are complete', async (t) => {
  const user = await service.createUser();
  for (let count = 0; count < 20; count += 1) await createPost(user, { text: '😀'.repeat(10_000) });
  const page = await user.send('GET', '/posts/me?limit=100');
  t.equal(page.body.length, 20);
  t.equal(page.body[19].text, '😀'.repeat(10_000));
  t.equal(page.bytes.length, Number(page.headers.get('content-length')));

  const head = await user.send('HEAD', '/posts/me?limit=100');
  t.equal(Number(head.headers.get('content-length')), page.bytes.length);
  await until(async () => (await unsentBytes()) === 0);

  await whileUnread('/posts/me?limit=100', authorization(user), async () =>
    t.equal((await user.send('GET', '/auth/me')).status, 200),
  );
  t.equal((await user.send('GET', '/posts/me?limit=100')).status, 200);
});

t.test('an image in memory counts towards the budget until it is read', async (t) => {
  const user = await service.createUser();
  const bytes = createImage(256 * 1024);
  const { image } = await createPost(user, { image: pngBlob(bytes) });
  await whileUnread(String(image), authorization(user), async () => undefined);
  t.ok((await user.send('GET', String(image))).bytes.equals(bytes));
});

t.test('the document counts towards the budget until it is read', async (t) => {
  await whileUnread('/openapi.json', '', async () => {
    const document = await fetch(`${service.url}/openapi.json`, { headers: { 'Accept-Encoding': 'identity' } });
    t.equal(await unsentBytes(), Number(document.headers.get('content-length')));
    await document.arrayBuffer();
  });
});
