import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { countLikes, storedImages, storedTies, undelivered } from './support/contents.js';
import type { RequestOptions } from './support/requests.js';
import { befriend, createPost, PASSWORD, type Person, startTestService } from './support/service.js';

const service = await startTestService(t);
const { db, graph } = service.stores;

type Form = NonNullable<RequestOptions['form']>;

const NEW_PASSWORD = 'Amber-Lighthouse-58?';
const png = new Blob([samples.png], { type: 'image/png' });
const gif = new Blob([samples.gif], { type: 'image/gif' });

const update = (person: Person, form: Form) => person.send('PUT', '/profiles/me', { form });
const nameOf = (link: string) => link.replace('/profiles/image/', '');

/** Everything that an update can change. */
async function stateOf({ id }: Person) {
  const account = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  const sessions = await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute();
  return { account, sessions, images: await storedImages(service.stores) };
}

t.test('an update that is refused changes nothing and stores no image', async (t) => {
  const person = await service.createUser();
  const { username, email } = await service.createUser();
  await update(person, { image: png });
  const before = await stateOf(person);
  const all = { name: 'Ann', private: 'true', image: gif };
  const change = { password: NEW_PASSWORD, current_password: PASSWORD };
  for (const [status, title, form] of [
    [400, 'a field', { ...all, ...change, email: 'none' }],
    [400, 'an undocumented field', { ...all, ...change, extra: '1' }],
    [400, 'no current password', { ...all, password: NEW_PASSWORD }],
    [400, 'an image and its removal', { ...all, remove_image: 'true' }],
    [400, 'an image of another type', { ...all, ...change, image: new Blob([samples.gif], { type: 'image/png' }) }],
    [401, 'a wrong password', { ...all, ...change, current_password: NEW_PASSWORD }],
    [409, 'a username in use', { ...all, ...change, username }],
    [409, 'an email address in use', { ...all, ...change, email }],
  ] as [number, string, Form][]) {
    t.equal((await update(person, form)).status, status, title);
    t.same(await stateOf(person), before, title);
  }
});

t.test('the bytes of a picture that is replaced or removed are removed', async (t) => {
  const person = await service.createUser();
  const others = await storedImages(service.stores);
  for (const image of [png, gif, gif]) {
    const { profile_link } = (await update(person, { image })).body;
    t.same(await storedImages(service.stores), [...others, nameOf(profile_link)].sort());
  }
  await update(person, { remove_image: 'true' });
  t.same(await storedImages(service.stores), others);
});

t.test('of two pictures that are sent at the same time one is kept, and the other leaves nothing', async (t) => {
  const person = await service.createUser();
  const others = await storedImages(service.stores);
  await update(person, { image: png });
  const answers = await Promise.all([update(person, { image: png }), update(person, { image: gif })]);
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  const { profile_link: link } = (await person.send('GET', '/profiles/me')).body;
  t.ok(answers.some(({ body }) => body.profile_link === link));
  t.same(await storedImages(service.stores), [...others, nameOf(link)].sort());
});

t.test('a deleted account leaves no trace', async (t) => {
  const [person, friend, asker, asked] = (await Promise.all(Array.from({ length: 4 }, () => service.createUser()))) as [
    Person,
    Person,
    Person,
    Person,
  ];
  const before = await storedImages(service.stores);
  await update(person, { image: png });
  const posts = [(await createPost(person)).id, (await createPost(person, { image: gif })).id];
  const theirs = await createPost(friend);
  await befriend(person, friend);
  await asker.send('POST', `/friends/request?to=${person.id}`);
  await person.send('POST', `/friends/request?to=${asked.id}`);
  await person.send('POST', `/posts/like?id=${theirs.id}`);
  for (const id of posts) await friend.send('POST', `/posts/like?id=${id}`);
  await service.login(person.email);
  const { id } = person;
  const left = async () => ({
    accounts: (await db.selectFrom('accounts').where('id', '=', id).select('id').execute()).length,
    sessions: (await db.selectFrom('sessions').where('account_id', '=', id).select('id').execute()).length,
    posts: (await db.selectFrom('posts').where('author_id', '=', id).select('id').execute()).length,
    ties: Object.values(await storedTies(service.stores, [id])).map(({ length }) => length),
    likesOfPosts: await countLikes(graph, posts),
    images: (await storedImages(service.stores)).length - before.length,
  });
  t.same(await left(), { accounts: 1, sessions: 2, posts: 2, ties: [2, 2, 1], likesOfPosts: [1, 1], images: 2 });

  t.equal((await person.send('DELETE', '/profiles/me', { json: { password: PASSWORD } })).status, 200);
  t.same(await left(), { accounts: 0, sessions: 0, posts: 0, ties: [0, 0, 0], likesOfPosts: [0, 0], images: 0 });
  t.same(await storedImages(service.stores), before);
  t.same(await undelivered(service.stores), []);
});

t.test('no upload is left in the spool, whether it was accepted or refused', async (t) => {
  // A file is removed once its response has been sent, so the last one may be a moment behind.
  const deadline = Date.now() + 5000;
  let left = await readdir(service.context.uploadsDir);
  while (left.length > 0 && Date.now() < deadline) {
    await setImmediate();
    left = await readdir(service.context.uploadsDir);
  }
  t.same(left, []);
});
