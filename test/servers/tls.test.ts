import t from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { startAndFail, startProcess } from '../support/processes.js';
import { picture } from '../support/service.js';
import { freshStores, needsServers } from '../support/stores.js';
import { overTls, writeCertificate } from '../support/tls.js';
import { registerUser } from '../support/users.js';

t.test(
  'connects to every store over TLS if its URL requires it, and rejects an untrusted certificate of PostgreSQL',
  needsServers,
  async (t) => {
    const environment = await freshStores(t);
    const certificatePath = await writeCertificate(t);
    const secure = await overTls(t, environment, certificatePath);
    const service = await startProcess(t, { ...secure, NODE_EXTRA_CA_CERTS: certificatePath });
    t.match(service.output(), /Stores +PostgreSQL at 127[^,]+, Neo4j at 127[^,]+, S3 bucket [^,]+, Redis at 127/);
    t.notOk(service.output().includes(new URL(environment.DATABASE_URL ?? '').password), 'no password is printed');
    const { send } = await registerUser(t, service.url);
    const form = { title: 'T', text: 'T', image: picture() };
    const { body: post } = await send('POST', '/posts/create', { form });
    t.equal((await send('POST', `/posts/like?id=${post.id}`)).status, 200);
    t.ok((await send('GET', post.image)).bytes.equals(samples.png));
    const { stores } = (await (await fetch(`${service.opsUrl}/readyz`)).json()) as { stores: object };
    for (const [name, state] of Object.entries(stores)) t.match(state, { ok: true }, name);

    const untrusted = secure.DATABASE_URL?.replace(/&sslrootcert=.*/, '');
    const { code, output } = await startAndFail(t, { ...environment, DATABASE_URL: untrusted });
    t.equal(code, 1);
    t.match(output, /certificate/);
    t.notMatch(output, /API/);
  },
);
