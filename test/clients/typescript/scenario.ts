import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export interface Refusal {
  code: string;
  message: string;
  errors?: { in: string; field: string; code: string; message: string }[] | undefined;
}

export type Answer<Body> = { status: number; body: Body } | { status: number; error: Refusal };

export interface Post {
  id: number;
  title: string;
  image: string | null;
  like_count: number;
  liked_by_me: boolean;
}

/** What one person does, by whatever functions a generator has made. */
export interface Client {
  register(registration: {
    name: string;
    username: string;
    email: string;
    password: string;
  }): Promise<Answer<{ id: number }>>;
  login(credentials: { email: string; password: string }): Promise<Answer<{ token: string }>>;
  getCurrentAccount(): Promise<Answer<{ email: string }>>;
  changePicture(image: Blob): Promise<Answer<{ profile_link: string | null }>>;
  goPrivate(): Promise<Answer<{ private: boolean }>>;
  getProfile(id: number): Promise<Answer<{ username: string; private?: boolean | undefined }>>;
  downloadPicture(filename: string): Promise<Answer<Blob>>;
  deleteAccount(password: string): Promise<Answer<{ message: string }>>;
  createPost(post: { title: string; text: string; image?: Blob }, idempotencyKey: string): Promise<Answer<Post>>;
  getPost(id: number): Promise<Answer<Post & { comments: unknown[] }>>;
  listPosts(page: { limit: number; offset: number }): Promise<Answer<Post[]>>;
  likePost(id: number): Promise<Answer<{ message: string }>>;
  downloadImage(filename: string): Promise<Answer<Blob>>;
  sendFriendRequest(to: number): Promise<Answer<{ message: string }>>;
  acceptFriendRequest(from: number): Promise<Answer<{ message: string }>>;
}

/** A client with a session's token, or with none. */
export type Connect = (baseUrl: string, token?: string) => Client;

const PASSWORD = 'Quiet-Harbour-27!';

function granted<Body>(answer: Answer<Body>, status = 200): Body {
  assert.ok('body' in answer, JSON.stringify(answer));
  assert.equal(answer.status, status);
  return answer.body;
}

function refused<Body>(answer: Answer<Body>, status: number): Refusal {
  assert.ok('error' in answer, JSON.stringify(answer));
  assert.equal(answer.status, status);
  assert.ok(answer.error.message);
  return answer.error;
}

const variable = (name: string) => process.env[name] ?? assert.fail(`${name} is not set`);

const fileNameIn = (link: string | null) => link?.split('/').at(-1) ?? assert.fail('there is no image');

/** Plays it, and prints the name of each step that has gone well. */
export async function play(connect: Connect): Promise<void> {
  const base = variable('BASE_URL');
  const nobody = connect(base);
  const suffix = randomBytes(4).toString('hex');
  const emailOf = (name: string) => `${name}.${suffix}@example.org`;
  const [pictureBytes, imageBytes] = [await readFile(variable('PICTURE')), await readFile(variable('IMAGE'))];

  const register = async (name: string) => {
    const registration = { name, username: `${name}_${suffix}`, email: emailOf(name), password: PASSWORD };
    return granted(await nobody.register(registration), 201).id;
  };
  const [adaId, benId, cleoId] = [await register('ada'), await register('ben'), await register('cleo')];
  console.log('register');

  const login = async (name: string) =>
    connect(base, granted(await nobody.login({ email: emailOf(name), password: PASSWORD })).token);
  const [ada, ben, cleo] = [await login('ada'), await login('ben'), await login('cleo')];
  assert.equal(granted(await ada.getCurrentAccount()).email, emailOf('ada'));
  console.log('log in');

  const profile = granted(await ada.changePicture(new Blob([pictureBytes], { type: 'image/png' })));
  console.log('upload a picture');

  const image = new Blob([imageBytes], { type: 'image/jpeg' });
  const key = randomUUID();
  const post = granted(await ada.createPost({ title: 'First', text: 'With an image.', image }, key), 201);
  assert.equal(post.title, 'First');
  const retried = granted(await ada.createPost({ title: 'First', text: 'With an image.', image }, key), 201);
  assert.equal(retried.id, post.id);
  refused(await ada.createPost({ title: 'Another', text: 'With the same key.' }, key), 422);
  console.log('post with an image');

  granted(await ben.sendFriendRequest(adaId));
  granted(await ada.acceptFriendRequest(benId));
  console.log('befriend');

  assert.equal(granted(await ada.goPrivate()).private, true);
  refused(await cleo.getPost(post.id), 404);
  refused(await cleo.downloadImage(fileNameIn(post.image)), 404);
  assert.equal(granted(await cleo.getProfile(adaId)).private, undefined);
  assert.equal(granted(await ben.getProfile(adaId)).private, true);
  assert.deepEqual(granted(await ben.getPost(post.id)).comments, []);
  console.log('go private');

  granted(await ben.likePost(post.id));
  const liked = granted(await ben.getPost(post.id));
  assert.deepEqual([liked.like_count, liked.liked_by_me], [1, true]);
  console.log('like');

  const others = [];
  for (const title of ['Second', 'Third']) {
    others.push(granted(await ada.createPost({ title, text: 'None.' }, randomUUID()), 201).id);
  }
  const first = granted(await ben.listPosts({ limit: 2, offset: 0 }));
  const second = granted(await ben.listPosts({ limit: 2, offset: 2 }));
  assert.deepEqual(
    [...first, ...second].slice(0, 3).map(({ id }) => id),
    [...others.reverse(), post.id],
  );
  assert.equal(first.length, 2);
  console.log('page through the feed');

  const bytesOf = async (answer: Answer<Blob>) => Buffer.from(await granted(answer).arrayBuffer());
  assert.deepEqual(await bytesOf(await ben.downloadPicture(fileNameIn(profile.profile_link))), pictureBytes);
  assert.deepEqual(await bytesOf(await ben.downloadImage(fileNameIn(post.image))), imageBytes);
  console.log('download images');

  const weak = {
    name: 'Dan',
    username: `dan_${suffix}`,
    email: 'dan@mailinator.com',
    password: 'There is no digit here.',
  };
  const { errors } = refused(await nobody.register(weak), 400);
  const problems = errors?.map((problem) => `${problem.in} ${problem.field} ${problem.code}`);
  assert.deepEqual(problems?.sort(), ['body email disposable_email', 'body password needs_digit']);
  console.log('read the problems of a 400');

  refused(await connect(base).getCurrentAccount(), 401);
  refused(await nobody.login({ email: emailOf('ada'), password: 'something else' }), 401);
  assert.equal(refused(await ada.deleteAccount('something else'), 401).code, 'invalid_password');
  refused(await ben.sendFriendRequest(adaId), 409);
  refused(await ben.acceptFriendRequest(cleoId), 404);
  console.log('be refused');

  for (const person of [ada, ben, cleo]) granted(await person.deleteAccount(PASSWORD));
  refused(await ada.getCurrentAccount(), 401);
  console.log('delete the accounts');
}
