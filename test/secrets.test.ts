import t from 'tap';
import { contract } from '../scripts/contract-test/client/index.js';
import { parseLog } from './support/processes.js';
import { secretsIn } from './support/secrets.js';
import { createPost, NEW_PASSWORD, PASSWORD, picture, startTestService } from './support/service.js';

const service = await startTestService(t, { LOG_LEVEL: 'trace' });

t.test('no password, hash, token, cookie or query value is logged, even at level trace', async (t) => {
  const [user, other] = [await service.createUser(), await service.createUser()];
  const post = await createPost(user, { text: 'secret text', image: picture() });
  const liked = await other.send('POST', `/posts/like?id=${post.id}`);
  await other.send('GET', '/posts?offset=987654321');
  await other.send('GET', '/posts?undeclared=leaky-query-value');
  await other.send('GET', String(post.image));
  await service.send('POST', '/auth/login', { json: { email: user.email, password: 'Wrong-Guess-1234!' } });
  await service.send('POST', '/auth/register', { json: { name: 'x', password: 'Half-Registered-1!' } });
  await service.send('GET', '/auth/me', { headers: { Cookie: 'fc_session_token=bad-cookie-value' } });
  await service.send('GET', '/auth/me', { token: 'bad-token-value' });
  await service.send('GET', '/%ff');
  const form = { password: NEW_PASSWORD, current_password: PASSWORD };
  await user.send('PUT', '/profiles/me', { form });
  await other.send('DELETE', '/profiles/me', { json: { password: 'Wrong-Deletion-1!' } });
  // Causes a server error, which is logged with its details.
  await service.stores.db.schema.alterTable('posts').renameTo('hidden_posts').execute();
  const failed = await other.send('GET', `/posts/${post.id}`);
  t.same([failed.status, failed.body], [500, { code: 'internal_error', message: 'Internal server error.' }]);
  t.notMatch(failed.bytes.toString(), /posts|relation/, 'the response does not contain the cause');
  await service.stores.db.schema.alterTable('hidden_posts').renameTo('posts').execute();

  const hashes = await service.stores.db.selectFrom('accounts').select('password_hash').execute();
  const secrets = [
    PASSWORD,
    NEW_PASSWORD,
    'Wrong-Guess-1234!',
    'Half-Registered-1!',
    'Wrong-Deletion-1!',
    user.token,
    other.token,
    other.token.split('.')[2] ?? '',
    'bad-cookie-value',
    'bad-token-value',
    '987654321',
    'leaky-query-value',
    'secret text',
    user.email,
    ...hashes.map(({ password_hash }) => password_hash),
  ];
  const log = service.logged();
  t.same(secretsIn(log, secrets), []);

  const lines = parseLog(log);
  const requests = lines.filter(({ msg }) => msg === 'request');
  const like = requests.find(({ route }) => route === '/posts/like');
  t.match(like, {
    method: 'POST',
    status: 200,
    ms: Number,
    accountId: other.id,
    reqId: liked.headers.get('x-request-id') ?? '',
  });
  const routes = requests.map(({ route }) => route);
  t.ok(routes.includes('/posts/image/:filename'), 'a route is logged as its pattern, not as a path');
  const error = lines.find(({ msg }) => msg === 'internal server error');
  t.match(error, { err: { message: /posts/ } }, 'an error is logged with its cause');
});

const SECRET = /\$argon2|[\w-]+-Harbour-27|eyJ[\w-]+\.|"(password|current_password|token|hash|salt)\w*":/;

t.test('error responses do not repeat passwords or tokens', async (t) => {
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
