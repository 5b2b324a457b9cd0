import { EventEmitter, once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import t from 'tap';
import { buildControlServer, controlSocketPath, listenOnSocket } from '../handlers/control.js';
import { samples } from '../scripts/contract-test/client/index.js';
import { createAdmin } from './support/admin.js';
import { expectConsistentStores } from './support/consistency.js';
import { ONE_LINE, runCommand } from './support/processes.js';
import { createPost, picture, startTestService, type TestUser } from './support/service.js';
import { emptyStores } from './support/store-fixtures.js';
import { temporaryDirectory } from './support/stores.js';
import { until } from './support/until.js';

const service = await startTestService(t, await emptyStores(t));
const { createUser } = service;
const { db } = service.stores;
const { act, readImage } = createAdmin(service.context);

const nameOf = (path: string | null | undefined) => path?.split('/').at(-1) ?? '';
const statusOf = async ({ send }: TestUser, path: string) => (await send('GET', path)).status;
const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

/** Returns the ways in which a user may report an image. */
const linksTo = (path: string) => [
  path,
  path.slice(1),
  nameOf(path),
  `https://social.example${path}`,
  `http://user@[::1]:3000/api${path}?size=large&from=/posts#top`,
  `${path}?next=https://social.example/profiles/image/${'0'.repeat(32)}.png`,
];

/** Inserts posts without images, faster than requests. Returns their ids. */
async function insertPosts(author: number, count: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    insert into posts (author_id, title, text) select ${author}::int8, 'T', 'x' from generate_series(1, ${count}::int)
    returning id`.execute(db);
  return idsOf(rows);
}

t.test('shows a post, named by its id or by any link to its image', async (t) => {
  const [author, reader] = [await createUser(), await createUser()];
  const { id, image } = await createPost(author, { title: 'A title', text: 'A text', image: picture() });
  await reader.send('POST', `/posts/like?id=${id}`);
  const expected = { id, author_id: author.id, author_username: author.username, title: 'A title', text: 'A text' };
  for (const reference of [String(id), ...linksTo(image ?? '')]) {
    const [post, ...others] = await act('posts/show', { posts: [reference] });
    t.match(post, { ...expected, image: nameOf(image), image_bytes: picture().size, likes: 1, created_at: /Z$/ });
    t.same(others, [], reference);
  }
  for (const reference of [
    '',
    '7x',
    '9'.repeat(30),
    nameOf(image).replace('.png', ''),
    `${image}/x`,
    '@ada',
    'ada@b.example',
  ])
    await t.rejects(act('posts/show', { posts: [reference] }), { code: '400' }, reference);
});

t.test('tells links to images of posts and to profile pictures apart', async (t) => {
  const user = await createUser();
  const post = await createPost(user, { image: picture() });
  const { body } = await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  for (const link of linksTo(body.profile_link)) {
    t.match(await act('accounts/show', { account: link }), { id: user.id, picture: nameOf(body.profile_link) }, link);
    const message = `“${link}” is the picture of account ${user.id}`;
    await t.rejects(act('posts/show', { posts: [link] }), { code: '400', message });
  }
  for (const link of linksTo(post.image ?? '')) {
    const message = `“${link}” is the image of post ${post.id}`;
    await t.rejects(act('accounts/show', { account: link }), { code: '400', message });
  }
  const absent = `${'0'.repeat(32)}.png`;
  await t.rejects(act('posts/show', { posts: [absent] }), { message: `There is no post “${absent}”` });
  await t.rejects(act('accounts/show', { account: absent }), { message: `There is no account “${absent}”` });
});

t.test('sends the image of a post, also of a disabled author', async (t) => {
  const author = await createUser();
  const [{ image }, plain] = [await createPost(author, { image: picture() }), await createPost(author)];
  await act('accounts/disable', { account: author.email });
  t.same(await buffer(await readImage(image ?? '')), samples.png);
  t.match(JSON.parse(String(await buffer(await readImage(String(plain.id))))), {
    message: `Post ${plain.id} has no image`,
  });
});

t.test('lists the posts of an author, the newest first, in pages', async (t) => {
  const [author, other] = [await createUser(), await createUser()];
  const ids = [];
  for (let count = 0; count < 5; count += 1) ids.push((await createPost(author)).id);
  await createPost(other);
  await other.send('POST', `/posts/like?id=${ids[1]}`);
  const list = (page: { after?: number; limit: number }) => act('posts/list', { author: author.email, ...page });
  const first = await list({ limit: 2 });
  t.same(idsOf(first), [ids[4], ids[3]]);
  await author.send('DELETE', `/posts/delete?id=${ids[3]}`);
  const second = await list({ after: ids[3] ?? 0, limit: 2 });
  t.same(idsOf(second), [ids[2], ids[1]], 'continues after a post that has been deleted');
  t.same(
    second.map(({ likes }) => likes),
    [0, 1],
  );
  t.same(idsOf(await list({ after: ids[1] ?? 0, limit: 2 })), [ids[0]]);
  await t.rejects(list({ limit: 1001 }), { code: '400', message: 'limit must be <= 1000' });
  await t.rejects(act('posts/list', { author: '@nobody', limit: 1 }), { code: '400' });
});

t.test('deletes several posts, or none if one of them does not exist', async (t) => {
  const [one, other] = [await createUser(), await createUser()];
  const posts = [await createPost(one, { image: picture() }), await createPost(one), await createPost(other)];
  const references = [posts[0]?.image, posts[1]?.id, posts[2]?.id].map(String);
  await t.rejects(act('posts/delete', { posts: [...references, '9007199254740991'] }), { code: '400' });
  for (const { id } of posts) t.equal(await statusOf(other, `/posts/${id}`), 200);
  t.same(await act('posts/delete', { posts: [...references, String(posts[0]?.id)] }), { deleted: 3 }, 'each once');
  for (const { id } of posts) t.equal(await statusOf(other, `/posts/${id}`), 404);
  t.equal(await statusOf(other, posts[0]?.image ?? ''), 404);
  t.match(await act('accounts/show', { account: one.email }), { posts: 0, stored_bytes: 0 });
  await expectConsistentStores(t, service.stores);
});

t.test('deletes all posts of an author, whose account stays', async (t) => {
  const [author, other] = [await createUser(), await createUser()];
  const kept = await createPost(other, { image: picture() });
  const withImage = await createPost(author, { image: picture() });
  await other.send('POST', `/posts/like?id=${withImage.id}`);
  const ids = await insertPosts(author.id, 450);
  await author.send('PUT', '/profiles/me', { form: { image: picture() } });
  t.same(await act('posts/delete-all', { author: author.email }), { deleted: 451 });
  t.match(await act('accounts/show', { account: author.email }), { posts: 0, stored_bytes: picture().size });
  for (const path of [`/posts/${withImage.id}`, `/posts/${ids[449]}`, withImage.image ?? ''])
    t.equal(await statusOf(other, path), 404, path);
  t.equal(await statusOf(other, kept.image ?? ''), 200, 'those of others stay');
  t.equal((await createPost(author)).author_id, author.id, 'the author continues');
  t.same(await act('posts/delete-all', { author: author.email }), { deleted: 1 });
  t.same(await act('posts/delete-all', { author: author.email }), { deleted: 0 });
  const rows = await act('log/list', { account: String(author.id), limit: 9 });
  const expected = (post_id: number | null) => ({ command: 'posts delete --author', account_id: author.id, post_id });
  t.match(rows.slice(0, 2), [{ post_id: Number }, expected(null)]);
  t.equal(rows.length, 2, 'a row for each run that deleted posts');
  await expectConsistentStores(t, service.stores);
});

t.test('the deletion of an author’s posts stops when the client disconnects, and can be repeated', async (t) => {
  const author = await createUser();
  await insertPosts(author.id, 450);
  const directory = join(await temporaryDirectory(t), 'control');
  const events = new EventEmitter();
  const outbox = {
    ...service.stores.outbox,
    async deliver() {
      setImmediate(() => events.emit('batch deleted'));
      await once(events, 'disconnected');
    },
  };
  const server = buildControlServer({ admin: { ...service.context, outbox } }, service.context.log);
  await listenOnSocket(server, directory);
  t.teardown(() => server.close());
  const client = request({
    socketPath: controlSocketPath(directory),
    path: '/admin/posts/delete-all',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
  }).end(JSON.stringify({ author: author.email, operator: 'o' }));
  await once(events, 'batch deleted');
  client.on('error', () => undefined).destroy();
  await until(async () => (await promisify(server.server.getConnections).call(server.server)) === 0);
  events.emit('disconnected');
  t.same(await act('posts/delete-all', { author: author.email }), { deleted: 250 });
});

t.test('the command', async (t) => {
  const author = await createUser();
  const admin = (...args: string[]) => runCommand(t, ['admin', ...args], service.environment);
  const [one, two] = [await createPost(author, { title: 'One\u001B[2J', image: picture() }), await createPost(author)];
  const link = `https://social.example${one.image}?x=y`;

  await t.test('saves an image, and replaces no file', async (t) => {
    const directory = await temporaryDirectory(t);
    const file = join(directory, 'image.png');
    const save = ['posts', 'show', link, '--image-to', file];
    const { code, output } = await admin(...save);
    t.match({ code, output }, { code: 0, output: new RegExp(`^image_file +${file}$`, 'm') });
    t.match(output, /^title +One \[2J$/m);
    t.same(await readFile(file), samples.png);
    t.equal((await stat(file)).mode & 0o777, 0o600);
    t.same(await admin(...save), { code: 1, output: `--image-to: ${file} exists: add --force to replace it\n` });
    const forced = await admin(...save, '--force', '--json');
    t.match(JSON.parse(forced.output), { id: one.id, image_file: file });
    const missing = join(directory, 'none.png');
    t.match(await admin('posts', 'show', String(two.id), '--image-to', missing), { code: 2, output: ONE_LINE });
    await t.rejects(stat(missing), { code: 'ENOENT' });
  });

  await t.test('lists posts in pages', async (t) => {
    const { code, output } = await admin('posts', 'list', '--author', `@${author.username}`, '--limit', '1');
    t.equal(code, 0, output);
    t.match(
      output,
      new RegExp(`^id +created +likes +image +image bytes +title\n${two.id} +2\\S+Z +0 +- +0 +A title$`, 'm'),
    );
    t.match(output, `There may be more: --after ${two.id}`);
  });

  await t.test('asks before posts are deleted, and refuses bad input with one line', async (t) => {
    const remove = (...args: string[]) => admin('posts', 'delete', ...args);
    const needsYes = 'Without a terminal, confirm with --yes';
    const name = `@${author.username} (id ${author.id})`;
    t.same(await remove(link), { code: 2, output: `Delete post ${one.id} (“One [2J”) of ${name}? ${needsYes}\n` });
    const both = `Delete 2 posts: ${one.id} (“One [2J”) of ${name}, ${two.id} (“A title”) of ${name}? ${needsYes}\n`;
    t.same(await remove(String(one.id), String(two.id)), { code: 2, output: both });
    t.same(await remove('--author', author.email), {
      code: 2,
      output: `Delete all 2 posts of @${author.username} (id ${author.id}, ${author.email})? ${needsYes}\n`,
    });
    for (const args of [[], [link, '--author', author.email], ['x'], ['--author', '@nobody']])
      t.match(await remove(...args, '--yes'), { code: 2, output: ONE_LINE }, args.join(' '));
    t.equal((await act('accounts/show', { account: author.email })).posts, 2);
    t.same(await remove(link, '--yes', '--json'), { code: 0, output: '{"deleted":1}\n' });
    t.same(await remove('--author', author.email, '--yes'), { code: 0, output: 'Posts deleted: 1.\n' });
  });
});
