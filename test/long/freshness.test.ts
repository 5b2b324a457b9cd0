import t, { type Test } from 'tap';
import { during, PATIENT } from '../support/races.js';
import { befriend, createPost, type Person, startTestService, type TestService } from '../support/service.js';
import { onServices } from '../support/stores.js';

const READERS = 128;
const ROUNDS = 5;

t.setTimeout(600_000);

/** Where processes may share stores, what one has acknowledged is looked for on another. */
const here = await startTestService(t, PATIENT);
const there = onServices ? await startTestService(t, { ...here.environment, ...PATIENT }) : here;
const crowd = await Promise.all(Array.from({ length: 8 }, () => here.createUser()));

/** One of many who read the feed all the while, so that whatever is asked goes along with what others ask. */
function reader(t: Test, number: number): () => Promise<void> {
  const { url } = number % 2 === 0 ? here : there;
  const headers = { Authorization: `Bearer ${crowd[number % crowd.length]?.token}` };
  return async () => {
    const answer = await fetch(`${url}/posts`, { headers });
    await answer.arrayBuffer();
    if (answer.status !== 200) t.fail(`a reader got ${answer.status}`);
  };
}

function whileManyRead(name: string, round: (t: Test) => Promise<void>): void {
  t.test(name, async (t) => {
    const rounds = async () => {
      for (let number = 0; number < ROUNDS; number += 1) await round(t);
    };
    await during(rounds(), ...Array.from({ length: READERS }, (_, number) => reader(t, number)));
  });
}

const ask = (service: TestService, { token }: Person, method: string, path: string) =>
  service.send(method, path, { token });

const change = async (t: Test, person: Person, method: string, path: string) =>
  t.equal((await ask(here, person, method, path)).status, 200);

/** What the viewer's first page says of one post: undefined where it is not on it. */
async function shown(viewer: Person, id: number) {
  const { body } = await ask(there, viewer, 'GET', '/posts');
  return body.find((post: { id: number }) => post.id === id);
}

whileManyRead('a like, and one taken back', async (t) => {
  const [ada, bob] = [await here.createUser(), await here.createUser()];
  const { id } = await createPost(ada);
  await change(t, bob, 'POST', `/posts/like?id=${id}`);
  t.match(await shown(bob, id), { like_count: 1, liked_by_me: true });
  t.match(await shown(ada, id), { like_count: 1, liked_by_me: false });
  await change(t, bob, 'DELETE', `/posts/like?id=${id}`);
  t.match(await shown(bob, id), { like_count: 0, liked_by_me: false });
});

whileManyRead('a friendship, and its end', async (t) => {
  const [hermit, friend] = [await here.createUser({ private: true }), await here.createUser()];
  const { id } = await createPost(hermit);
  t.equal(await shown(friend, id), undefined);
  await befriend(friend, hermit);
  t.match(await shown(friend, id), { id });
  await change(t, hermit, 'DELETE', `/friends/remove?id=${friend.id}`);
  t.equal(await shown(friend, id), undefined);
});

whileManyRead('going private, and public again', async (t) => {
  const [ada, bob] = [await here.createUser(), await here.createUser()];
  const { id } = await createPost(ada);
  t.match(await shown(bob, id), { id });
  for (const hidden of ['true', 'false']) {
    t.equal((await ada.send('PUT', '/profiles/me', { form: { private: hidden } })).status, 200);
    t.equal((await shown(bob, id))?.id, hidden === 'true' ? undefined : id);
  }
});

whileManyRead('a logout', async (t) => {
  const ada = await here.createUser();
  t.equal((await ask(there, ada, 'GET', '/posts')).status, 200);
  await change(t, ada, 'POST', '/auth/logout');
  t.equal((await ask(there, ada, 'GET', '/posts')).status, 401);
});
