import t, { type Test } from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { createTokens } from '../../handlers/security/tokens.js';
import { samples } from '../../scripts/contract-test/images.js';
import { type ServiceProcess, startProcess } from '../support/processes.js';
import { LONG_TIMEOUTS, repeatUntilSettled, runRounds } from '../support/races.js';
import { createSender } from '../support/requests.js';
import { createPost, PASSWORD } from '../support/service.js';
import { freshStores, needsServers, openTestStores } from '../support/stores.js';
import { createUserFactory, type TestUser } from '../support/users.js';

const NEW_PASSWORD = 'Bright-Lantern-58!';
const IN_FLIGHT = 4;

type Send = ReturnType<typeof createSender>;

const as =
  (send: Send, { token }: Pick<TestUser, 'token'>): TestUser['send'] =>
  (method, path, more) =>
    send(method, path, { token, ...more });

/** Starts two processes on one set of stores, and returns a function that creates users. */
async function twoProcesses(t: Test) {
  const environment = await freshStores(t);
  const patient = { ...environment, ...LONG_TIMEOUTS };
  const [one, other] = [await startProcess(t, patient), await startProcess(t, patient)];
  const stores = await openTestStores(t, environment);
  const { tokenKeys } = readConfig(environment);
  if (!tokenKeys) throw new Error('processes on servers need token keys');
  const [sendToOne, sendToOther] = [createSender(t, one.url), createSender(t, other.url)];
  return {
    environment: patient,
    processes: [one, other] as [ServiceProcess, ServiceProcess],
    senders: [sendToOne, sendToOther] as const,
    createUser: await createUserFactory({ stores, tokens: createTokens(tokenKeys), send: sendToOne }),
  };
}

t.test('what one process has acknowledged holds on the other immediately', needsServers, async (t) => {
  const { senders, createUser } = await twoProcesses(t);

  /**
   * Makes a change on one process, and expects the other one, which is read continuously, to show it immediately. The
   * processes swap roles every round.
   */
  async function expectVisibleOnOther(
    t: Test,
    arrange: () => Promise<{
      change(here: Send): Promise<{ status: number }>;
      look(there: Send): Promise<unknown>;
      before: unknown;
      after: unknown;
    }>,
  ): Promise<void> {
    await runRounds(async (round) => {
      const [here, there] = round % 2 === 0 ? senders : senders.toReversed();
      if (!here || !there) return;
      const { change, look: read, before, after } = await arrange();
      t.same(await read(there), before, 'before');
      const seen = async () => {
        t.equal((await change(here)).status, 200);
        return read(there);
      };
      const reader = () => read(there);
      t.same(await repeatUntilSettled(seen(), reader, reader, reader, reader), after, 'after');
    }, IN_FLIGHT);
  }

  const me = (user: TestUser) => async (there: Send) => (await as(there, user)('GET', '/auth/me')).status;

  t.test('a logout', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      return { change: (here) => as(here, user)('POST', '/auth/logout'), look: me(user), before: 200, after: 401 };
    }),
  );

  t.test('the end of a session', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      const sessions = (await user.send('GET', '/auth/sessions')).body;
      const { id } = sessions.find(({ current }: { current: boolean }) => !current);
      return {
        change: (here) => as(here, user)('DELETE', `/auth/sessions/${id}`),
        look: me(otherSession),
        before: 200,
        after: 401,
      };
    }),
  );

  t.test('the end of all other sessions', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      return {
        change: (here) => as(here, user)('DELETE', '/auth/sessions'),
        look: async (there) => [await me(otherSession)(there), await me(user)(there)],
        before: [200, 200],
        after: [401, 200],
      };
    }),
  );

  t.test('a password change', (t) =>
    expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const otherSession = await user.newSession();
      const form = { password: NEW_PASSWORD, current_password: PASSWORD };
      return {
        change: (here) => as(here, user)('PUT', '/profiles/me', { form }),
        look: async (there) => [await me(otherSession)(there), await me(user)(there)],
        before: [200, 200],
        after: [401, 401],
      };
    }),
  );

  /** Returns the post's status, whether the feed lists it, and whether the full profile is visible. */
  const view = (viewer: TestUser, author: TestUser, post: number) => async (there: Send) => {
    const send = as(there, viewer);
    const [single, feed, profile] = await Promise.all([
      send('GET', `/posts/${post}`),
      send('GET', '/posts?limit=100'),
      send('GET', `/profiles/${author.id}`),
    ]);
    const listed = feed.body.some(({ id }: { id: number }) => id === post);
    return [single.status, listed, profile.body && 'private' in profile.body];
  };
  const OPEN = [200, true, true];

  t.test('going private', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => as(here, user)('PUT', '/profiles/me', { form: { private: 'true' } }),
        look: view(other, user, id),
        before: OPEN,
        after: [404, false, false],
      };
    });
  });

  t.test('an unfriending', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      await user.send('PUT', '/profiles/me', { form: { private: 'true' } });
      await user.send('POST', `/friends/request?to=${other.id}`);
      await other.send('POST', `/friends/accept?from=${user.id}`);
      return {
        change: (here) => as(here, user)('DELETE', `/friends/remove?id=${other.id}`),
        look: view(other, user, id),
        before: OPEN,
        after: [404, false, false],
      };
    });
  });

  t.test('the end of an account', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => as(here, user)('DELETE', '/profiles/me', { json: { password: PASSWORD } }),
        look: async (there) => [await me(user)(there), ...(await view(other, user, id)(there))],
        before: [200, ...OPEN],
        after: [401, 404, false, false],
      };
    });
  });

  t.test('the end of a post', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      return {
        change: (here) => as(here, user)('DELETE', `/posts/delete?id=${id}`),
        look: view(other, user, id),
        before: OPEN,
        after: [404, false, true],
      };
    });
  });

  t.test('a like', async (t) => {
    const other = await createUser();
    await expectVisibleOnOther(t, async () => {
      const user = await createUser();
      const { id } = await createPost(user);
      const read = async (there: Send) => {
        const { body } = await as(there, other)('GET', `/posts/${id}`);
        return [body.like_count, body.liked_by_me];
      };
      return {
        change: (here) => as(here, other)('POST', `/posts/like?id=${id}`),
        look: read,
        before: [0, false],
        after: [1, true],
      };
    });
  });
});

t.test('tokens and images of one process are valid on the other', needsServers, async (t) => {
  const { senders } = await twoProcesses(t);
  const [one, other] = senders;
  const email = 'user@people.example';
  await one('POST', '/auth/register', { json: { name: 'Test User', username: 'user', email, password: PASSWORD } });
  const { token } = (await other('POST', '/auth/login', { json: { email, password: PASSWORD } })).body;
  const form = { image: new Blob([samples.png], { type: 'image/png' }) };
  const { body } = await one('PUT', '/profiles/me', { token, form });
  const picture = await other('GET', body.profile_link, { token });
  t.ok(picture.bytes.equals(samples.png));
});

t.test('clients that retry see no failure during a rolling restart', needsServers, async (t) => {
  const { environment, processes, createUser } = await twoProcesses(t);
  const [user, other] = [await createUser(), await createUser()];
  const senders = processes.map(({ url }) => createSender(t, url));
  let requestCount = 0;

  /** Retries a request on the next process while one is stopping or stopped. */
  async function sendUntilServed(user: TestUser, method: string, path: string, more?: object): ReturnType<Send> {
    for (;;) {
      requestCount += 1;
      const send = senders[requestCount % senders.length];
      const response = await send?.(method, path, { token: user.token, ...more }).catch(() => undefined);
      if (response && response.status !== 503) return response;
    }
  }

  const postIds: number[] = [];
  async function client() {
    const form = { title: 'A title', text: 'A text' };
    const created = await sendUntilServed(user, 'POST', '/posts/create', { form });
    t.equal(created.status, 201);
    postIds.push(created.body.id);
    t.equal((await sendUntilServed(other, 'POST', `/posts/like?id=${created.body.id}`)).status, 200);
    const read = await sendUntilServed(other, 'GET', `/posts/${created.body.id}`);
    t.same([read.status, read.body.like_count], [200, 1]);
  }

  async function restartEach() {
    const codes = [];
    for (const [place, process] of processes.entries()) {
      codes.push(await process.end('SIGTERM'));
      const fresh = await startProcess(t, environment);
      senders[place] = createSender(t, fresh.url);
      processes[place] = fresh;
    }
    return codes;
  }

  t.same(await repeatUntilSettled(restartEach(), client, client, client, client), [0, 0]);
  t.comment(`${postIds.length} posts were written meanwhile`);
  for (const id of postIds) t.equal((await sendUntilServed(other, 'GET', `/posts/${id}`)).status, 200);
});
