import t from 'tap';
import type { HttpOptions } from './support/http.js';
import { listImageNames } from './support/image-store.js';
import { picture } from './support/picture.js';
import { befriend, createPost, NEW_PASSWORD, PASSWORD, startTestService, type TestUser } from './support/service.js';
import { countLikes, drainOutbox } from './support/store-contents.js';

const service = await startTestService(t);
const { db, graph, images } = service.stores;

type Form = NonNullable<HttpOptions['form']>;

const png = picture();
const gif = picture('gif');

const update = (user: TestUser, form: Form) => user.send('PUT', '/profiles/me', { form });

async function stateOf({ id }: TestUser) {
  const account = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
  const sessions = await db.selectFrom('sessions').select('id').where('account_id', '=', id).execute();
  return { account, sessions, images: await listImageNames(images) };
}

t.test('a rejected update changes nothing and stores no image', async (t) => {
  const user = await service.createUser();
  const { username, email } = await service.createUser();
  await update(user, { image: png });
  const before = await stateOf(user);
  const all = { name: 'Ann', private: 'true', image: gif };
  const change = { password: NEW_PASSWORD, current_password: PASSWORD };
  for (const [status, title, form] of [
    [400, 'an undocumented field', { ...all, ...change, extra: '1' }],
    [400, 'no current password', { ...all, password: NEW_PASSWORD }],
    [400, 'an image and its removal', { ...all, remove_image: 'true' }],
    [401, 'a wrong password', { ...all, ...change, current_password: NEW_PASSWORD }],
    [409, 'a username in use', { ...all, ...change, username }],
    [409, 'an email address in use', { ...all, ...change, email }],
  ] as [number, string, Form][]) {
    t.equal((await update(user, form)).status, status, title);
    t.same(await stateOf(user), before, title);
  }
});

t.test('account deletion removes all rows, edges and images of the account', async (t) => {
  const [user, friend] = [await service.createUser(), await service.createUser()];
  const [requester, requested] = [await service.createUser(), await service.createUser()];
  const before = await listImageNames(images);
  await update(user, { image: png });
  const posts = [(await createPost(user)).id, (await createPost(user, { image: gif })).id];
  const friendsPost = await createPost(friend);
  await befriend(user, friend);
  await requester.send('POST', `/friends/request?to=${user.id}`);
  await user.send('POST', `/friends/request?to=${requested.id}`);
  await user.send('POST', `/posts/like?id=${friendsPost.id}`);
  for (const id of posts) await friend.send('POST', `/posts/like?id=${id}`);
  await service.login(user.email);
  const { id } = user;
  const countData = async () => ({
    accounts: (await db.selectFrom('accounts').where('id', '=', id).select('id').execute()).length,
    sessions: (await db.selectFrom('sessions').where('account_id', '=', id).select('id').execute()).length,
    posts: (await db.selectFrom('posts').where('author_id', '=', id).select('id').execute()).length,
    edges: Object.values(await graph.bulk.edgesOf([id])).map(({ length }) => length),
    likesOfPosts: await countLikes(graph, posts),
    images: (await listImageNames(images)).length - before.length,
  });
  t.same(await countData(), { accounts: 1, sessions: 2, posts: 2, edges: [2, 2, 1], likesOfPosts: [1, 1], images: 2 });

  t.equal((await user.send('DELETE', '/profiles/me', { json: { password: PASSWORD } })).status, 200);
  await drainOutbox(service.stores);
  t.same(await countData(), { accounts: 0, sessions: 0, posts: 0, edges: [0, 0, 0], likesOfPosts: [0, 0], images: 0 });
  t.same(await listImageNames(images), before);
});
