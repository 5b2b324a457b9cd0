import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';
import { needsProgram } from '../support/programs.js';
import { startTestService } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';
import { registerWith } from '../support/users.js';
import { createClient } from './client.js';
import { startProgram } from './programs.js';

/** The main configuration of nginx, without the files of Debian's package. */
const mainConfiguration = (directory: string) => `
daemon off; master_process off; user root; pid ${directory}/pid; error_log stderr notice;
events {}
http {
  access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  include ${directory}/site.conf;
}`;

t.test('nginx forwards requests to the process that responds', needsProgram('nginx'), async (t) => {
  const directory = await temporaryDirectory(t);
  const service = await startTestService(t, { TRUST_PROXY: '127.0.0.1', RATE_LIMIT_STRICT_MAX: '20' });
  const [httpsPort, unusedPort] = [await findFreePort(), await findFreePort()];
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const options = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', ...options.split(' '), ...names], { stdio: 'ignore' });
  const values = {
    '127.0.0.1:3000': new URL(service.url).host,
    '127.0.0.2:3000': `127.0.0.1:${unusedPort}`,
    'listen 443': `listen 127.0.0.1:${httpsPort}`,
    '/etc/letsencrypt/live/social.example/fullchain.pem': certificate,
    '/etc/letsencrypt/live/social.example/privkey.pem': key,
    'server_name social.example': 'server_name localhost',
  };
  let site = await readFile(join('scripts', 'deploy', 'nginx.conf'), 'utf8');
  for (const [text, value] of Object.entries(values)) {
    if (!site.includes(text)) throw new Error(`nginx.conf does not contain ${text}`);
    site = site.replaceAll(text, value);
  }
  await writeFile(join(directory, 'site.conf'), site);
  await writeFile(join(directory, 'nginx.conf'), mainConfiguration(directory));
  await startProgram(
    t,
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf')],
    [/using the "epoll" event method/],
  );

  const proxy = { url: `https://localhost:${httpsPort}`, certificate };
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
