import t, { type Test } from 'tap';
import { repeatUntilSettled } from '../support/races.js';
import {
  befriend,
  createPost,
  LONG_TIMEOUTS,
  startTestService,
  type TestService,
  type TestUser,
} from '../support/service.js';
import { onServices } from '../support/stores.js';

const READERS = 128;
const ROUNDS = 5;

t.setTimeout(600_000);

// Reads go to another service than writes if the stores allow several services.
const here = await startTestService(t, LONG_TIMEOUTS);
const there = onServices ? await startTestService(t, { ...here.environment, ...LONG_TIMEOUTS }) : here;
const readers = await Promise.all(Array.from({ length: 8 }, () => here.createUser()));

/** Returns a function that reads the feed. Many of them run concurrently, so that queries of different users are batched. */
function reader(t: Test, number: number): () => Promise<void> {
  const { url } = number % 2 === 0 ? here : there;
  const headers = { Authorization: `Bearer ${readers[number % readers.length]?.token}` };
  return async () => {
    const response = await fetch(`${url}/posts`, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) t.fail(`a reader got ${response.status}`);
  };
}

/** Defines a test whose rounds run while many clients read the feed. */
function testWhileManyRead(name: string, round: (t: Test) => Promise<void>): void {
  t.test(name, async (t) => {
    const rounds = async () => {
      for (let number = 0; number < ROUNDS; number += 1) await round(t);
    };
    await repeatUntilSettled(rounds(), ...Array.from({ length: READERS }, (_, number) => reader(t, number)));
  });
}

const send = (service: TestService, { token }: TestUser, method: string, path: string) =>
  service.send(method, path, { token });

const change = async (t: Test, user: TestUser, method: string, path: string) =>
  t.equal((await send(here, user, method, path)).status, 200);

/** Returns a post from the first page of the viewer's feed, or undefined if that page does not contain it. */
async function postOnFirstPage(viewer: TestUser, id: number) {
  const { body } = await send(there, viewer, 'GET', '/posts');
  return body.find((post: { id: number }) => post.id === id);
}

testWhileManyRead('likes and unlikes are visible immediately', async (t) => {
  const [ada, bob] = [await here.createUser(), await here.createUser()];
  const { id } = await createPost(ada);
  await change(t, bob, 'POST', `/posts/like?id=${id}`);
  t.match(await postOnFirstPage(bob, id), { like_count: 1, liked_by_me: true });
  t.match(await postOnFirstPage(ada, id), { like_count: 1, liked_by_me: false });
  await change(t, bob, 'DELETE', `/posts/like?id=${id}`);
  t.match(await postOnFirstPage(bob, id), { like_count: 0, liked_by_me: false });
});

testWhileManyRead('a friendship and its end are visible immediately', async (t) => {
  const [hermit, friend] = [await here.createUser({ private: true }), await here.createUser()];
  const { id } = await createPost(hermit);
  t.equal(await postOnFirstPage(friend, id), undefined);
  await befriend(friend, hermit);
  t.match(await postOnFirstPage(friend, id), { id });
  await change(t, hermit, 'DELETE', `/friends/remove?id=${friend.id}`);
  t.equal(await postOnFirstPage(friend, id), undefined);
});

testWhileManyRead('changes of privacy are visible immediately', async (t) => {
  const [ada, bob] = [await here.createUser(), await here.createUser()];
  const { id } = await createPost(ada);
  t.match(await postOnFirstPage(bob, id), { id });
  for (const hidden of ['true', 'false']) {
    t.equal((await ada.send('PUT', '/profiles/me', { form: { private: hidden } })).status, 200);
    t.equal((await postOnFirstPage(bob, id))?.id, hidden === 'true' ? undefined : id);
  }
});

testWhileManyRead('a logout is effective immediately', async (t) => {
  const ada = await here.createUser();
  t.equal((await send(there, ada, 'GET', '/posts')).status, 200);
  await change(t, ada, 'POST', '/auth/logout');
  t.equal((await send(there, ada, 'GET', '/posts')).status, 401);
});
