import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { createAccount } from '../../db/accounts.js';
import { lockShared } from '../../db/postgres/locks.js';
import { deletePost } from '../../db/posts.js';
import type { Stores } from '../../db/stores.js';
import { samples } from '../../scripts/contract-test/images.js';
import { type Verdict, verify } from '../../scripts/verify/verify.js';
import { befriend, createPost, PASSWORD, type Person, startTestService } from '../support/service.js';
import { quiet } from '../support/stores.js';
import {
  broken,
  emptyStores,
  halves,
  inspect,
  NO_TIES,
  nodes,
  openQuietly,
  population,
  times,
} from '../support/verifying.js';

t.test('between two looks the service goes on', async (t) => {
  const stores = await openQuietly(t);
  const { db, graph, images, outbox } = stores;
  const { account, post, imaged, deleteAccount } = population(stores);
  const [ada, ben] = [await account(), await account()];
  const kept = await imaged(ada);
  const ghost = async () => {
    const created = await createAccount(db, {
      name: 'G',
      username: randomBytes(4).toString('hex'),
      email: `${randomBytes(4).toString('hex')}@x.example`,
      passwordHash: 'hash',
    });
    return created ?? { id: 0, entries: [] };
  };

  /** Makes something happen the first time, and has everybody wait for it. */
  const once = (happening: () => Promise<unknown>) => {
    let happened: Promise<unknown> | undefined;
    return async () => {
      happened ??= happening();
      await happened;
    };
  };
  /** The same call, after which something happens, once. */
  const followedBy = <Given extends unknown[], Result>(
    call: (...given: Given) => Promise<Result>,
    happening: () => Promise<unknown>,
  ) => {
    const happen = once(happening);
    return async (...given: Given): Promise<Result> => {
      const result = await call(...given);
      await happen();
      return result;
    };
  };
  const withInventory = (changes: Partial<typeof graph.snapshot>): Stores => ({
    ...stores,
    graph: { ...graph, snapshot: { ...graph.snapshot, ...changes } },
  });

  t.test('an account is deleted after its node was seen', async (t) => {
    const gone = await account();
    await graph.like([{ person: gone, post: kept.id }]);
    const personIds = followedBy(graph.snapshot.personIds, () => deleteAccount(gone));
    t.same(broken(await verify(withInventory({ personIds }), { repair: true, log: quiet })), {});
    t.same(await db.selectFrom('accounts').select('id').where('id', '=', gone).execute(), [], 'it happened');
  });

  t.test('a post is deleted after its node was seen', async (t) => {
    const gone = await post(ada);
    await graph.like([{ person: ben, post: gone }]);
    const postIds = followedBy(graph.snapshot.postIds, async () =>
      outbox.deliver((await deletePost(db, ada, gone)) ?? []),
    );
    t.same(broken(await verify(withInventory({ postIds }), { repair: true, log: quiet })), {});
  });

  t.test('a node is made after it was missed, and goes with its account before the next look', nodes, async (t) => {
    for (const isDeleted of [false, true]) {
      const { id, entries } = await ghost();
      let looks = 0;
      const personIds: typeof graph.snapshot.personIds = async (...page) => {
        looks += 1;
        // The first look is for nodes without accounts, the next two are for accounts without nodes.
        if (looks === 3 && isDeleted) await deleteAccount(id);
        const ids = await graph.snapshot.personIds(...page);
        if (looks === 2) {
          t.notOk(ids.includes(id), 'it was missed');
          await outbox.deliver(entries);
        }
        return ids;
      };
      t.same(broken(await verify(withInventory({ personIds }), { repair: true, log: quiet })), {});
      if (!isDeleted) await deleteAccount(id);
    }
  });

  t.test('an image is removed after it was listed', async (t) => {
    const { id } = await imaged(ada);
    const list = async function* () {
      for await (const name of images.list()) {
        yield name;
        await remove();
      }
    };
    const remove = once(async () => outbox.deliver((await deletePost(db, ada, id)) ?? []));
    t.same(broken(await verify({ ...stores, images: { ...images, list } }, { repair: true, log: quiet })), {});
  });

  t.test('an image is removed after its row was read', async (t) => {
    const { id } = await imaged(ada);
    const remove = once(async () => outbox.deliver((await deletePost(db, ada, id)) ?? []));
    const get = async (name: string) => {
      await remove();
      return images.get(name);
    };
    t.same(broken(await verify({ ...stores, images: { ...images, get } }, { repair: true, log: quiet })), {});
  });

  t.test('a friendship is made while its people are looked at', async (t) => {
    await graph.request(ada, ben);
    // What a look sees that comes in the middle of the accept.
    const edgesOf = async (people: readonly number[]) => {
      await accept();
      const ties = await graph.snapshot.edgesOf(people);
      return { ...ties, friendships: ties.friendships.slice(1), requests: [{ from: ada, to: ben }] };
    };
    const accept = once(() => graph.accept(ben, ada));
    t.same(broken(await verify(withInventory({ edgesOf }), { repair: true, log: quiet })), {});
    t.same([await graph.friendsOf(ada), await graph.friendsOf(ben)], [[ben], [ada]]);
  });

  t.test('whoever changes a tie is waited for', halves, async (t) => {
    const [lo, hi] = [await account(), await account()];
    const friendships = [
      { person: lo, friend: hi },
      { person: hi, friend: lo },
    ];
    let verdict: Promise<Verdict> | undefined;
    await stores.graphTransactions.transaction().execute(async (trx) => {
      await lockShared(trx, { accounts: [lo, hi] });
      await graph.snapshot.addEdges({ ...NO_TIES, friendships: friendships.slice(1) });
      let isOver = false;
      verdict = verify(stores, { repair: true, log: quiet }).finally(() => {
        isOver = true;
      });
      const isWaited = async () => (await sql`select from pg_locks where not granted`.execute(db)).rows.length > 0;
      while (!isOver && !(await isWaited())) await new Promise((resolve) => setTimeout(resolve, 10));
      await graph.snapshot.addEdges({ ...NO_TIES, friendships });
    });
    t.same(verdict && broken(await verdict), {});
    t.same([await graph.friendsOf(lo), await graph.friendsOf(hi)], [[hi], [lo]]);
  });
});

t.test('a busy service is found in order, and a repair leaves it so', async (t) => {
  const service = await startTestService(t, await emptyStores(t));
  const image = () => new Blob([samples.png], { type: 'image/png' });
  const met: Person[] = [];

  /** A life from registration to deletion, which leaves nothing behind. */
  async function live(): Promise<void> {
    const person = await service.createUser();
    const others = met.slice(-3);
    met.push(person);
    await person.send('PUT', '/profiles/me', { form: { image: image() } });
    const [first, second] = [await createPost(person, { image: image() }), await createPost(person)];
    for (const other of others) {
      await befriend(person, other);
      await other.send('POST', `/posts/like?id=${first.id}`);
      await other.send('POST', `/posts/like?id=${second.id}`);
      await other.send('DELETE', `/friends/remove?id=${person.id}`);
      await person.send('POST', `/friends/request?to=${other.id}`);
    }
    await person.send('PUT', `/posts/edit?id=${first.id}`, { form: { image: image() } });
    await person.send('DELETE', `/posts/delete?id=${second.id}`);
    await person.send('PUT', '/profiles/me', { form: { image: image() } });
    await person.send('DELETE', '/profiles/me', { json: { password: PASSWORD } });
  }

  const LIVES = { atOnce: 4, inTurn: 2 };
  let busy = true;
  const lives = Promise.all(Array.from({ length: LIVES.atOnce }, () => times(LIVES.inTurn, live))).finally(() => {
    busy = false;
  });
  let rounds = 0;
  while (busy) {
    rounds += 1;
    const verdict = await inspect(service.stores, rounds % 2 === 0);
    t.same(broken(verdict), {}, `round ${rounds}`);
  }
  await lives;
  t.ok(rounds > 2, `${rounds} rounds`);
  t.same(broken(await inspect(service.stores)), {});
});
