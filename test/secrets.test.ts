import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { PASSWORD, startTestService } from './harness.js';

t.test(
  'no password, hash, token, cookie or query value of a whole run is in the log, however much is logged',
  async (t) => {
    const service = await startTestService(t, { LOG_LEVEL: 'trace' });
    const [ada, bob] = [await service.person(), await service.person()];
    const newPassword = 'Other-Lantern-81!';
    const image = new Blob([samples.png], { type: 'image/png' });
    const { body: post } = await ada.ask('POST', '/posts/create', { form: { title: 'T', text: 'secret text', image } });
    await bob.ask('POST', `/posts/like?id=${post.id}`);
    await bob.ask('GET', '/posts?offset=987654321');
    await bob.ask('GET', '/posts?undeclared=leaky-query-value');
    await bob.ask('GET', post.image);
    await service.ask('POST', '/auth/login', { json: { email: ada.email, password: 'Wrong-Guess-1234!' } });
    await service.ask('POST', '/auth/register', { json: { name: 'x', password: 'Half-Registered-1!' } });
    await service.ask('GET', '/auth/me', { headers: { Cookie: 'fc_session_token=bad-cookie-value' } });
    await service.ask('GET', '/auth/me', { token: 'bad-token-value' });
    await service.ask('GET', '/%ff');
    const form = { password: newPassword, current_password: PASSWORD };
    await ada.ask('PUT', '/profiles/me', { form });
    await bob.ask('DELETE', '/profiles/me', { json: { password: 'Wrong-Deletion-1!' } });
    // A fault, so that an error with all that hangs on it is logged too.
    await service.stores.db.schema.alterTable('posts').renameTo('hidden_posts').execute();
    t.equal((await bob.ask('GET', `/posts/${post.id}`)).status, 500);
    await service.stores.db.schema.alterTable('hidden_posts').renameTo('posts').execute();

    const hashes = await service.stores.db.selectFrom('accounts').select('password_hash').execute();
    const secrets = [
      PASSWORD,
      newPassword,
      'Wrong-Guess-1234!',
      'Half-Registered-1!',
      'Wrong-Deletion-1!',
      ada.token,
      bob.token,
      bob.token.split('.')[2] ?? '',
      'bad-cookie-value',
      'bad-token-value',
      '987654321',
      'leaky-query-value',
      'secret text',
      ada.email,
      ...hashes.map(({ password_hash }) => password_hash),
    ];
    const log = service.logged();
    for (const secret of secrets) t.notOk(log.includes(secret), `${secret.slice(0, 4)}… is not logged`);

    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ msg }) => msg === 'request');
    t.match(
      requests.find(({ route }) => route === '/posts/like'),
      { method: 'POST', status: 200, ms: Number, reqId: String },
      'one line a request: method, route pattern, status, time, request id',
    );
    t.ok(
      requests.some(({ route }) => route === '/posts/image/:filename'),
      'a route is its pattern, not a path',
    );
    t.match(
      lines.find(({ msg }) => msg === 'fault'),
      { err: { message: /posts/ } },
      'a fault keeps its cause',
    );
  },
);
