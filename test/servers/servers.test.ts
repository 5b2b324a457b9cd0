import t, { type Test } from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { createTokens } from '../../handlers/security/tokens.js';
import { samples } from '../../scripts/contract-test/images.js';
import { type ServiceProcess, startProcess } from '../support/processes.js';
import { during, PATIENT, rounds } from '../support/races.js';
import { createSender } from '../support/requests.js';
import { createPost, PASSWORD } from '../support/service.js';
import { freshStores, needsServers, openTestStores } from '../support/stores.js';
import { createUserFactory, type TestUser } from '../support/users.js';

const NEW_PASSWORD = 'Bright-Lantern-58!';
const IN_FLIGHT = 4;

type Ask = ReturnType<typeof createSender>;

const as =
  (ask: Ask, { token }: Pick<TestUser, 'token'>): TestUser['send'] =>
  (method, path, more) =>
    ask(method, path, { token, ...more });

/** Two processes on one set of stores, and people who are known to both. */
async function twoProcesses(t: Test) {
  const environment = await freshStores(t);
  const patient = { ...environment, ...PATIENT };
  const [one, other] = [await startProcess(t, patient), await startProcess(t, patient)];
  const stores = await openTestStores(t, environment);
  const { tokenKeys } = readConfig(environment);
  if (!tokenKeys) throw new Error('processes on servers need token keys');
  const [askOne, askOther] = [createSender(t, one.url), createSender(t, other.url)];
  return {
    environment: patient,
    processes: [one, other] as [ServiceProcess, ServiceProcess],
    asks: [askOne, askOther] as const,
    racer: await createUserFactory({ stores, tokens: createTokens(tokenKeys), send: askOne }),
  };
}

t.test('what one process has acknowledged holds on the other at once', needsServers, async (t) => {
  const { asks, racer } = await twoProcesses(t);

  /**
   * Changes something on one process and looks at once on the other, which many have been asking the same all the while.
   * The two change places with every round.
   */
  async function holds(
    t: Test,
    scene: () => Promise<{
      change(here: Ask): Promise<{ status: number }>;
      look(there: Ask): Promise<unknown>;
      before: unknown;
      after: unknown;
    }>,
  ): Promise<void> {
    await rounds(async (round) => {
      const [here, there] = round % 2 === 0 ? asks : asks.toReversed();
      if (!here || !there) return;
      const { change, look, before, after } = await scene();
      t.same(await look(there), before, 'before');
      const seen = async () => {
        t.equal((await change(here)).status, 200);
        return look(there);
      };
      const reader = () => look(there);
      t.same(await during(seen(), reader, reader, reader, reader), after, 'after');
    }, IN_FLIGHT);
  }

  const me = (person: TestUser) => async (there: Ask) => (await as(there, person)('GET', '/auth/me')).status;

  t.test('a logout', (t) =>
    holds(t, async () => {
      const ada = await racer();
      return { change: (here) => as(here, ada)('POST', '/auth/logout'), look: me(ada), before: 200, after: 401 };
    }),
  );

  t.test('the end of a session', (t) =>
    holds(t, async () => {
      const ada = await racer();
      const phone = await ada.newSession();
      const sessions = (await ada.send('GET', '/auth/sessions')).body;
      const { id } = sessions.find(({ current }: { current: boolean }) => !current);
      return {
        change: (here) => as(here, ada)('DELETE', `/auth/sessions/${id}`),
        look: me(phone),
        before: 200,
        after: 401,
      };
    }),
  );

  t.test('the end of all other sessions', (t) =>
    holds(t, async () => {
      const ada = await racer();
      const phone = await ada.newSession();
      return {
        change: (here) => as(here, ada)('DELETE', '/auth/sessions'),
        look: async (there) => [await me(phone)(there), await me(ada)(there)],
        before: [200, 200],
        after: [401, 200],
      };
    }),
  );

  t.test('a password change', (t) =>
    holds(t, async () => {
      const ada = await racer();
      const phone = await ada.newSession();
      const form = { password: NEW_PASSWORD, current_password: PASSWORD };
      return {
        change: (here) => as(here, ada)('PUT', '/profiles/me', { form }),
        look: async (there) => [await me(phone)(there), await me(ada)(there)],
        before: [200, 200],
        after: [401, 401],
      };
    }),
  );

  /** What a viewer gets of a post and its author: the post's status, its place in the feed, the profile's fields. */
  const view = (viewer: TestUser, author: TestUser, post: number) => async (there: Ask) => {
    const ask = as(there, viewer);
    const [single, feed, profile] = await Promise.all([
      ask('GET', `/posts/${post}`),
      ask('GET', '/posts?limit=100'),
      ask('GET', `/profiles/${author.id}`),
    ]);
    const listed = feed.body.some(({ id }: { id: number }) => id === post);
    return [single.status, listed, profile.body && 'private' in profile.body];
  };
  const OPEN = [200, true, true];

  t.test('going private', async (t) => {
    const bob = await racer();
    await holds(t, async () => {
      const ada = await racer();
      const { id } = await createPost(ada);
      return {
        change: (here) => as(here, ada)('PUT', '/profiles/me', { form: { private: 'true' } }),
        look: view(bob, ada, id),
        before: OPEN,
        after: [404, false, false],
      };
    });
  });

  t.test('an unfriending', async (t) => {
    const bob = await racer();
    await holds(t, async () => {
      const ada = await racer();
      const { id } = await createPost(ada);
      await ada.send('PUT', '/profiles/me', { form: { private: 'true' } });
      await ada.send('POST', `/friends/request?to=${bob.id}`);
      await bob.send('POST', `/friends/accept?from=${ada.id}`);
      return {
        change: (here) => as(here, ada)('DELETE', `/friends/remove?id=${bob.id}`),
        look: view(bob, ada, id),
        before: OPEN,
        after: [404, false, false],
      };
    });
  });

  t.test('the end of an account', async (t) => {
    const bob = await racer();
    await holds(t, async () => {
      const ada = await racer();
      const { id } = await createPost(ada);
      return {
        change: (here) => as(here, ada)('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        look: async (there) => [await me(ada)(there), ...(await view(bob, ada, id)(there))],
        before: [200, ...OPEN],
        after: [401, 404, false, false],
      };
    });
  });

  t.test('the end of a post', async (t) => {
    const bob = await racer();
    await holds(t, async () => {
      const ada = await racer();
      const { id } = await createPost(ada);
      return {
        change: (here) => as(here, ada)('DELETE', `/posts/delete?id=${id}`),
        look: view(bob, ada, id),
        before: OPEN,
        after: [404, false, true],
      };
    });
  });

  t.test('a like', async (t) => {
    const bob = await racer();
    await holds(t, async () => {
      const ada = await racer();
      const { id } = await createPost(ada);
      const look = async (there: Ask) => {
        const { body } = await as(there, bob)('GET', `/posts/${id}`);
        return [body.like_count, body.liked_by_me];
      };
      return {
        change: (here) => as(here, bob)('POST', `/posts/like?id=${id}`),
        look,
        before: [0, false],
        after: [1, true],
      };
    });
  });
});

t.test('a token and an image of one process are good on the other', needsServers, async (t) => {
  const { asks } = await twoProcesses(t);
  const [one, other] = asks;
  const email = 'ada@people.example';
  await one('POST', '/auth/register', { json: { name: 'Ada', username: 'ada', email, password: PASSWORD } });
  const { token } = (await other('POST', '/auth/login', { json: { email, password: PASSWORD } })).body;
  const form = { image: new Blob([samples.png], { type: 'image/png' }) };
  const { body } = await one('PUT', '/profiles/me', { token, form });
  const picture = await other('GET', body.profile_link, { token });
  t.ok(picture.bytes.equals(samples.png));
});

t.test('clients that try again notice nothing of a rolling restart', needsServers, async (t) => {
  const { environment, processes, racer } = await twoProcesses(t);
  const [ada, bob] = [await racer(), await racer()];
  const asks = processes.map(({ url }) => createSender(t, url));
  let turn = 0;

  /** Asks the next process if one is gone or about to go. */
  async function persist(person: TestUser, method: string, path: string, more?: object): ReturnType<Ask> {
    for (;;) {
      turn += 1;
      const ask = asks[turn % asks.length];
      const answer = await ask?.(method, path, { token: person.token, ...more }).catch(() => undefined);
      if (answer && answer.status !== 503) return answer;
    }
  }

  const written: number[] = [];
  async function client() {
    const form = { title: 'A title', text: 'A text' };
    const created = await persist(ada, 'POST', '/posts/create', { form });
    t.equal(created.status, 201);
    written.push(created.body.id);
    t.equal((await persist(bob, 'POST', `/posts/like?id=${created.body.id}`)).status, 200);
    const read = await persist(bob, 'GET', `/posts/${created.body.id}`);
    t.same([read.status, read.body.like_count], [200, 1]);
  }

  async function restartEach() {
    const codes = [];
    for (const [place, process] of processes.entries()) {
      codes.push(await process.end('SIGTERM'));
      const fresh = await startProcess(t, environment);
      asks[place] = createSender(t, fresh.url);
      processes[place] = fresh;
    }
    return codes;
  }

  t.same(await during(restartEach(), client, client, client, client), [0, 0]);
  t.comment(`${written.length} posts were written meanwhile`);
  for (const id of written) t.equal((await persist(bob, 'GET', `/posts/${id}`)).status, 200);
});
