import t from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { createRandom } from '../../scripts/seed/random.js';
import { expectNoLeftovers } from '../support/leftovers.js';
import { picture } from '../support/picture.js';
import { startProcess } from '../support/processes.js';
import { createSender, type RequestOptions, type TestResponse } from '../support/requests.js';
import { freshStores, openTestStores } from '../support/stores.js';
import { registerUser } from '../support/users.js';

const ROUNDS = 4;
const CLIENTS = 8;

interface KnownPost {
  id: number;
  title: string;
  image: string | null;
  /** False while a change is in progress: without a response, its outcome is unknown. */
  certain: boolean;
}

t.test('after kill -9 everything acknowledged is present and no write is incomplete', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  t.comment(`SEED=${seed}`);
  const random = createRandom(seed);
  const environment = await freshStores(t);
  const known: KnownPost[] = [];
  /** Creations without a response, by title. */
  const withoutResponse = new Map<string, RequestOptions>();
  let acknowledged = 0;

  let service = await startProcess(t, environment);
  const { token } = await registerUser(t, service.url);

  /** Sends one random request. Throws if the response is lost. */
  async function step(
    send: (method: string, path: string, more?: object) => Promise<TestResponse>,
    ownPosts: KnownPost[],
  ) {
    const post = ownPosts[random(ownPosts.length || 1)];
    const choice = random(6);
    if (!post || choice < 3) {
      const title = `post ${acknowledged} ${random(1e9)}`;
      const form = { title, text: 'text', ...(choice > 0 && { image: picture() }) };
      const create = { form, headers: { 'Idempotency-Key': title.replaceAll(' ', '-') } };
      withoutResponse.set(title, create);
      const { body } = await send('POST', '/posts/create', create);
      withoutResponse.delete(title);
      const created = { id: body.id, title, image: body.image, certain: true };
      ownPosts.push(created);
      known.push(created);
    } else if (choice === 3) {
      post.certain = false;
      const title = `edit ${acknowledged} ${random(1e9)}`;
      const { body } = await send('PUT', `/posts/edit?id=${post.id}`, { form: { title, image: picture() } });
      Object.assign(post, { title, image: body.image, certain: true });
    } else if (choice === 4) {
      await send('POST', `/posts/like?id=${post.id}`);
    } else {
      post.certain = false;
      await send('DELETE', `/posts/delete?id=${post.id}`);
      known.splice(known.indexOf(post), 1);
      ownPosts.splice(ownPosts.indexOf(post), 1);
    }
    acknowledged += 1;
  }

  for (let round = 0; round < ROUNDS; round += 1) {
    const send = createSender(t, service.url);
    const goal = acknowledged + 20 + random(60);
    let killed = false;
    const client = async () => {
      const ownPosts: KnownPost[] = [];
      while (!killed) {
        try {
          await step((method, path, more) => send(method, path, { token, ...more }), ownPosts);
        } catch {
          return;
        }
        if (acknowledged >= goal && !killed) {
          killed = true;
          service.child.kill('SIGKILL');
        }
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    service = await startProcess(t, environment);
    const sendAgain = createSender(t, service.url);
    for (const [title, create] of withoutResponse) {
      const { body } = await sendAgain('POST', '/posts/create', { token, ...create });
      known.push({ id: body.id, title, image: body.image, certain: true });
    }
    withoutResponse.clear();
    for (const post of known.filter(({ certain }) => certain)) {
      const { status, body } = await sendAgain('GET', `/posts/${post.id}`, { token });
      t.same([status, body?.title, body?.image], [200, post.title, post.image], `post ${post.id} is as acknowledged`);
      if (post.image) {
        const image = await sendAgain('GET', post.image, { token });
        t.ok(image.bytes.equals(samples.png), `the image of post ${post.id} is complete`);
      }
    }
  }
  t.equal(await service.end('SIGTERM'), 0);
  t.comment(`${acknowledged} acknowledged steps, ${ROUNDS} kills`);

  const stores = await openTestStores(t, environment);
  const rows = await stores.db.selectFrom('posts').select('title').execute();
  t.equal(new Set(rows.map(({ title }) => title)).size, rows.length, 'no retry has created a second post');
  await stores.close();
  await expectNoLeftovers(t, environment);
});
