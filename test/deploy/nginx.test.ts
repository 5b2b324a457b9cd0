import t from 'tap';
import { needsProgram } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { registerWith } from '../support/users.js';
import { createClient } from './client.js';
import { startNginx } from './nginx.js';

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
