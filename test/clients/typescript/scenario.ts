import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

export interface ErrorBody {
  code: string;
  message: string;
  errors?: { in: string; field: string; code: string; message: string }[] | undefined;
}

export type Result<Body> = { status: number; body: Body } | { status: number; error: ErrorBody };

export interface ScenarioPost {
  id: number;
  title: string;
  image: string | null;
}

/** The operations of the scenario, which each client implements with the functions of its generator. */
export interface ScenarioClient {
  register(registration: {
    name: string;
    username: string;
    email: string;
    password: string;
  }): Promise<Result<{ id: number }>>;
  login(credentials: { email: string; password: string }): Promise<Result<{ token: string }>>;
  getCurrentAccount(): Promise<Result<{ email: string }>>;
  /** Makes the account private, and sets its picture. */
  goPrivate(picture: Blob): Promise<Result<{ profile_link: string | null }>>;
  getProfile(id: number): Promise<Result<{ username: string; private?: boolean | undefined }>>;
  deleteAccount(password: string): Promise<Result<{ message: string }>>;
  createPost(
    post: { title: string; text: string; image?: Blob },
    idempotencyKey: string,
  ): Promise<Result<ScenarioPost>>;
  getPost(id: number): Promise<Result<ScenarioPost & { comments: unknown[] }>>;
  listPosts(page: { limit: number; cursor?: string }): Promise<Result<ScenarioPost[]>>;
  downloadImage(filename: string): Promise<Result<Blob>>;
  sendFriendRequest(to: number): Promise<Result<{ message: string }>>;
  acceptFriendRequest(from: number): Promise<Result<{ message: string }>>;
}

/** Creates a client that sends the token, if there is one. */
export type Connect = (baseUrl: string, token?: string) => ScenarioClient;

const PASSWORD = 'Quiet-Harbour-27!';

function expectSuccess<Body>(result: Result<Body>, status = 200): Body {
  assert.ok('body' in result, JSON.stringify(result));
  assert.equal(result.status, status);
  return result.body;
}

function expectError<Body>(result: Result<Body>, status: number): ErrorBody {
  assert.ok('error' in result, JSON.stringify(result));
  assert.equal(result.status, status);
  assert.ok(result.error.message);
  return result.error;
}

const variable = (name: string) => process.env[name] ?? assert.fail(`${name} is not set`);

const fileNameIn = (link: string | null) => link?.split('/').at(-1) ?? assert.fail('there is no image');

/** Returns the cursor of the next page of a list, from the header `Link`. Not every client returns headers. */
async function nextCursor(url: string, token: string): Promise<string> {
  const { headers } = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
  const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
  return new URL(next, url).searchParams.get('cursor') ?? assert.fail('there is no cursor');
}

/** Returns the result of a client whose functions return `data` or `error` with the response. */
export async function toResult<Body>(
  pending: Promise<{ data?: Body | undefined; error?: ErrorBody | undefined; response?: Response | undefined }>,
): Promise<Result<Body>> {
  const { data, error, response } = await pending;
  const status = response?.status ?? 0;
  if (data !== undefined) return { status, body: data };
  if (error !== undefined) return { status, error };
  throw new Error(`status ${status} without a body`);
}

type Success = { status: 200 | 201 };
type Received = { status: number; data?: unknown };

const isSuccess = <Response extends Received>(response: Response): response is Extract<Response, Success> =>
  response.status < 300;

/** Converts a response of a generator whose responses are a union, with a member for each status. */
export async function unionToResult<Response extends Received>(
  pending: Promise<Response>,
): Promise<Result<Extract<Response, Success & { data: unknown }>['data']>> {
  const response = await pending;
  if (isSuccess(response)) return { status: response.status, body: response.data };
  return { status: response.status, error: response.data as ErrorBody };
}

/** Runs the scenario with three users. Prints the name of each step after its success. */
export async function runScenario(connect: Connect): Promise<void> {
  const base = variable('BASE_URL');
  const anonymous = connect(base);
  const suffix = randomBytes(4).toString('hex');
  const emailOf = (name: string) => `${name}.${suffix}@example.org`;
  const [pictureBytes, imageBytes] = [await readFile(variable('PICTURE')), await readFile(variable('IMAGE'))];

  const register = async (name: string) => {
    const registration = { name, username: `${name}_${suffix}`, email: emailOf(name), password: PASSWORD };
    return expectSuccess(await anonymous.register(registration), 201).id;
  };
  const [adaId, benId, cleoId] = [await register('ada'), await register('ben'), await register('cleo')];
  console.log('register');

  const login = async (name: string) =>
    expectSuccess(await anonymous.login({ email: emailOf(name), password: PASSWORD })).token;
  const benToken = await login('ben');
  const [ada, ben, cleo] = [
    connect(base, await login('ada')),
    connect(base, benToken),
    connect(base, await login('cleo')),
  ];
  assert.equal(expectSuccess(await ada.getCurrentAccount()).email, emailOf('ada'));
  console.log('log in');

  const image = new Blob([imageBytes], { type: 'image/jpeg' });
  const key = randomUUID();
  const post = expectSuccess(await ada.createPost({ title: 'First', text: 'With an image.', image }, key), 201);
  assert.equal(post.title, 'First');
  const retried = expectSuccess(await ada.createPost({ title: 'First', text: 'With an image.', image }, key), 201);
  assert.equal(retried.id, post.id);
  expectError(await ada.createPost({ title: 'Another', text: 'With the same key.' }, key), 422);
  console.log('post with an image');

  expectSuccess(await ben.sendFriendRequest(adaId));
  expectSuccess(await ada.acceptFriendRequest(benId));
  console.log('befriend');

  const picture = new Blob([pictureBytes], { type: 'image/png' });
  assert.ok(expectSuccess(await ada.goPrivate(picture)).profile_link);
  expectError(await cleo.getPost(post.id), 404);
  expectError(await cleo.downloadImage(fileNameIn(post.image)), 404);
  assert.equal(expectSuccess(await cleo.getProfile(adaId)).private, undefined);
  assert.equal(expectSuccess(await ben.getProfile(adaId)).private, true);
  assert.deepEqual(expectSuccess(await ben.getPost(post.id)).comments, []);
  console.log('go private');

  const others = [];
  for (const title of ['Second', 'Third']) {
    others.push(expectSuccess(await ada.createPost({ title, text: 'None.' }, randomUUID()), 201).id);
  }
  const first = expectSuccess(await ben.listPosts({ limit: 2 }));
  const cursor = await nextCursor(`${base}/posts?limit=2`, benToken);
  const second = expectSuccess(await ben.listPosts({ limit: 2, cursor }));
  assert.deepEqual(
    [...first, ...second].slice(0, 3).map(({ id }) => id),
    [...others.reverse(), post.id],
  );
  assert.equal(first.length, 2);
  console.log('page through the feed');

  const downloaded = expectSuccess(await ben.downloadImage(fileNameIn(post.image)));
  assert.deepEqual(Buffer.from(await downloaded.arrayBuffer()), imageBytes);
  console.log('download an image');

  const weak = {
    name: 'Dan',
    username: `dan_${suffix}`,
    email: 'dan@mailinator.com',
    password: 'There is no digit here.',
  };
  const { errors } = expectError(await anonymous.register(weak), 400);
  const problems = errors?.map((problem) => `${problem.in} ${problem.field} ${problem.code}`);
  assert.deepEqual(problems?.sort(), ['body email disposable_email', 'body password needs_digit']);
  console.log('read the problems of a 400');

  expectError(await connect(base).getCurrentAccount(), 401);
  expectError(await anonymous.login({ email: emailOf('ada'), password: 'something else' }), 401);
  assert.equal(expectError(await ada.deleteAccount('something else'), 401).code, 'invalid_password');
  expectError(await ben.sendFriendRequest(adaId), 409);
  expectError(await ben.acceptFriendRequest(cleoId), 404);
  console.log('be refused');

  for (const client of [ada, ben, cleo]) expectSuccess(await client.deleteAccount(PASSWORD));
  expectError(await ada.getCurrentAccount(), 401);
  console.log('delete the accounts');
}
