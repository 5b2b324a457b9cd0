import t from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { startAndFail, startProcess } from '../support/processes.js';
import { createSender } from '../support/requests.js';
import { PASSWORD } from '../support/service.js';
import { claimGraphFor, freshStores, needsServers } from '../support/stores.js';
import { overTls, writeCertificate } from '../support/tls.js';

t.test('the URL of each store is enough to use TLS', needsServers, async (t) => {
  const environment = await freshStores(t);
  const certificate = await writeCertificate(t);
  const secure = await overTls(t, environment, certificate);
  const service = await startProcess(t, { ...secure, NODE_EXTRA_CA_CERTS: certificate });
  t.match(service.output(), /Stores +PostgreSQL at 127[^,]+, Neo4j at 127[^,]+, S3 bucket [^,]+, Redis at 127/);
  t.notOk(service.output().includes(new URL(environment.DATABASE_URL ?? '').password), 'no password is printed');
  const send = createSender(t, service.url);
  const json = { name: 'Test User', username: 'user', email: 'user@people.example', password: PASSWORD };
  t.equal((await send('POST', '/auth/register', { json })).status, 201);
  const { token } = (await send('POST', '/auth/login', { json: { email: json.email, password: PASSWORD } })).body;
  const form = { title: 'T', text: 'T', image: new Blob([samples.png], { type: 'image/png' }) };
  const { body: post } = await send('POST', '/posts/create', { token, form });
  t.equal((await send('POST', `/posts/like?id=${post.id}`, { token })).status, 200);
  t.ok((await send('GET', post.image, { token })).bytes.equals(samples.png));
  const { stores } = (await (await fetch(`${service.opsUrl}/readyz`)).json()) as { stores: object };
  for (const [name, state] of Object.entries(stores)) t.match(state, { ok: true }, name);
});

t.test('an untrusted certificate of PostgreSQL prevents the start', needsServers, async (t) => {
  const environment = await freshStores(t);
  const secure = await overTls(t, environment, await writeCertificate(t));
  await claimGraphFor(environment);
  const untrusted = secure.DATABASE_URL?.replace(/&sslrootcert=.*/, '');
  const { code, output } = await startAndFail(t, { ...environment, DATABASE_URL: untrusted });
  t.equal(code, 1);
  t.match(output, /certificate/);
  t.notMatch(output, /API/);
});
