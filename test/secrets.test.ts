import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { contract } from '../scripts/contract-test/document.js';
import { samples } from '../scripts/contract-test/images.js';
import { secretsIn } from './abuse/logs.js';
import { createPost, PASSWORD, startTestService } from './support/service.js';
import { onServices, temporaryDirectory } from './support/stores.js';

const service = await startTestService(t, { LOG_LEVEL: 'trace' });

t.test(
  'no password, hash, token, cookie or query value of a whole run is in the log, however much is logged',
  async (t) => {
    const [ada, bob] = [await service.createUser(), await service.createUser()];
    const newPassword = 'Other-Lantern-81!';
    const image = new Blob([samples.png], { type: 'image/png' });
    const { body: post } = await ada.send('POST', '/posts/create', {
      form: { title: 'T', text: 'secret text', image },
    });
    const liked = await bob.send('POST', `/posts/like?id=${post.id}`);
    await bob.send('GET', '/posts?offset=987654321');
    await bob.send('GET', '/posts?undeclared=leaky-query-value');
    await bob.send('GET', post.image);
    await service.send('POST', '/auth/login', { json: { email: ada.email, password: 'Wrong-Guess-1234!' } });
    await service.send('POST', '/auth/register', { json: { name: 'x', password: 'Half-Registered-1!' } });
    await service.send('GET', '/auth/me', { headers: { Cookie: 'fc_session_token=bad-cookie-value' } });
    await service.send('GET', '/auth/me', { token: 'bad-token-value' });
    await service.send('GET', '/%ff');
    const form = { password: newPassword, current_password: PASSWORD };
    await ada.send('PUT', '/profiles/me', { form });
    await bob.send('DELETE', '/profiles/me', { json: { password: 'Wrong-Deletion-1!' } });
    // A fault, so that an error with all that hangs on it is logged too.
    await service.stores.db.schema.alterTable('posts').renameTo('hidden_posts').execute();
    const failed = await bob.send('GET', `/posts/${post.id}`);
    t.match([failed.status, failed.body], [500, { message: String }]);
    t.notMatch(failed.bytes.toString(), /posts|relation/, 'the response does not tell the cause');
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
      { method: 'POST', status: 200, ms: Number, reqId: liked.headers.get('x-request-id') ?? '' },
      'one line a request: method, route pattern, status, time, and the id that the response tells',
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

const SECRET = /\$argon2|[\w-]+-Harbour-27|eyJ[\w-]+\.|"(password|current_password|token|hash|salt)\w*":/;

t.test('no refusal repeats a password or a token that was sent', async (t) => {
  const { send } = await service.createUser();
  const guess = { password: 'Wrong-Harbour-27!', current_password: 'Wrong-Harbour-27!' };
  for (const { id, method, path, requestBody } of contract) {
    const sent = requestBody && (requestBody.mediaType === 'application/json' ? { json: guess } : { form: guess });
    const { status, body } = await send(method, `${path}?password=Quiet-Harbour-27!&token=eyJx.eyJy.z`, sent);
    t.equal(status, 400, id);
    t.notMatch(JSON.stringify(body), SECRET, id);
  }
  t.notMatch(service.logged(), SECRET);
});

t.test('what is stored is for the owner of the process alone', async (t) => {
  const { directory } = service.stores;
  await createPost(await service.createUser(), { image: new Blob([samples.png], { type: 'image/png' }) });
  const own = onServices ? [] : [directory.postgres];
  for (const path of [...own, directory.images, directory.uploads]) {
    t.equal((await stat(path)).mode & 0o777, 0o700, path);
  }
});

t.test('the search of the logs under attack finds each kind of secret, and nothing in a log without one', async (t) => {
  const path = join(await temporaryDirectory(t), 'log');
  const line = (what: string) => `{"level":30,"msg":"${what}"}\n`;
  const clean = line('request') + line('an id 018f3c1e-7d2a and a route /posts/:id');
  const secrets: Record<string, string> = {
    [PASSWORD]: `${PASSWORD.slice(0, 4)}…`,
    '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA': 'a password hash',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0.c2lnbmF0dXJl': 'a token',
    'Bearer not-even-a-token': 'a credential header',
  };
  await writeFile(path, clean);
  t.same(await secretsIn(path, new Set([PASSWORD])), []);
  for (const [secret, name] of Object.entries(secrets)) {
    await writeFile(path, clean + line(secret));
    t.same(await secretsIn(path, new Set([PASSWORD])), [name]);
  }
});
