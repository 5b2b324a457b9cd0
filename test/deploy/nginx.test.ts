import { readFile } from 'node:fs/promises';
import t from 'tap';
import { needsProgram } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';
import { registerWith } from '../support/users.js';
import { createClient } from './client.js';
import { addToServer, startNginx } from './nginx.js';

t.test('nginx forwards requests to the process that responds', needsProgram('nginx'), async (t) => {
  const service = await startTestService(t, { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_STRICT_MAX: '20' });
  const proxy = await startNginx(t, service.url);
  const send = await createClient(t, proxy, '127.0.24.1');
  const { token } = await registerWith(send);
  for (let requests = 0; requests < 10; requests += 1) t.equal((await send('GET', '/auth/me', { token })).status, 200);

  const post = (bytes: number) => {
    const image = new Blob([Buffer.from('GIF89a'), Buffer.alloc(bytes - 6)], { type: 'image/gif' });
    return send('POST', '/posts/create', { token, form: { title: 'T', text: 'T', image } });
  };
  const { uploadMaxBytes } = service.context.config;
  t.match(
    await post(uploadMaxBytes + 1),
    { status: 413, body: { code: 'file_too_large' } },
    'the limit is the service’s',
  );

  const login = (client: typeof send, forged: string) =>
    client('POST', '/auth/login', { json: { email: 'x', password: 'x' }, headers: { 'X-Forwarded-For': forged } });
  const client = await createClient(t, proxy, '127.0.24.2');
  const remaining = async (forged: string) =>
    Number((await login(client, forged)).headers.get('x-ratelimit-remaining'));
  t.same([await remaining('203.0.113.1'), await remaining('203.0.113.2')], [19, 18], 'a forged header changes nothing');

  const refused = await send('GET', '/auth/me');
  t.equal(refused.headers.get('strict-transport-security'), 'max-age=31536000');
  const { email, password } = await registerWith(send);
  const cookie = (await send('POST', '/auth/login', { json: { email, password } })).headers.get('set-cookie');
  t.match(cookie, /; Secure/);
});

t.test(
  'with the documented cache of images, nginx asks the service for each request',
  needsProgram('nginx'),
  async (t) => {
    const page = await readFile('scripts/deploy/README.md', 'utf8');
    const blocks = [...page.matchAll(/^```nginx\n(.*?)^```/gms)].map(([, lines = '']) => lines);
    const [disk = '', directives = ''] = blocks.filter((lines) => lines.includes('proxy_cache'));
    const service = await startTestService(t, { TRUST_PROXY: '127.0.0.1' });
    const before = disk.replace('/var/cache/nginx/images', await temporaryDirectory(t));
    t.not(before, disk);
    const proxy = await startNginx(t, service.url, (site) => before + addToServer(directives)(site));
    const send = await createClient(t, proxy, '127.0.24.3');
    const [author, reader] = [await registerWith(send), await registerWith(send)];
    const image = new Blob(['GIF89a'], { type: 'image/gif' });
    const { body: post } = await send('POST', '/posts/create', {
      token: author.token,
      form: { title: 'T', text: 'T', image },
    });
    const path = String(post?.image);
    const get = (token?: string) => send('GET', path, { token });
    t.equal((await get(reader.token)).status, 200);
    // From now on, only nginx has the image.
    await service.context.images.remove(path.replace('/posts/image/', ''));
    const cached = await get(reader.token);
    t.same([cached.status, String(cached.bytes)], [200, 'GIF89a']);
    for (const [name] of cached.headers)
      t.notMatch(name, /ratelimit|request-id/, 'no header of the request that filled the cache');
    const etag = cached.headers.get('etag') ?? '';
    const conditional = await send('GET', path, { token: reader.token, headers: { 'If-None-Match': etag } });
    t.equal(conditional.status, 304);
    t.match(await get(), { status: 401, body: { code: 'missing_credentials' } });

    await send('PUT', '/profiles/me', { token: author.token, form: { private: 'true' } });
    const missing = await send('GET', path.replace(/\w+(?=\.)/, '0'.repeat(32)), { token: reader.token });
    t.same((await get(reader.token)).body, missing.body, 'hidden as if the image did not exist');
    t.equal(missing.status, 404);
    t.equal((await get(author.token)).status, 200);
  },
);
