import t from 'tap';
import { createAdmin } from './support/admin.js';
import { drainOutbox } from './support/consistency.js';
import { scrape } from './support/prometheus.js';
import { createPost, PASSWORD, picture, startTestService, type TestUser } from './support/service.js';
import { recordStatements } from './support/statements.js';

// Compares the SQL statements and the calls of other stores that requests for hidden, for disabled and for missing content make.
// Requests that do the same work also take the same time.
const service = await startTestService(t);
const statements = recordStatements(t);

const SECRET = 'unmistakable';
const fileName = (link: string | null | undefined) => link?.split('/').at(-1) ?? '';

const OPERATIONS = {
  getPost: (user: TestUser, { id }: Target) => user.send('GET', `/posts/${id}`),
  getPostImage: (user: TestUser, { image }: Target) => user.send('GET', `/posts/image/${image}`),
  getProfileImage: (user: TestUser, { picture }: Target) => user.send('GET', `/profiles/image/${picture}`),
  likePost: (user: TestUser, { id }: Target) => user.send('POST', `/posts/like?id=${id}`),
  unlikePost: (user: TestUser, { id }: Target) => user.send('DELETE', `/posts/like?id=${id}`),
  editPost: (user: TestUser, { id }: Target) => user.send('PUT', `/posts/edit?id=${id}`, { form: { title: 'Mine' } }),
  deletePost: (user: TestUser, { id }: Target) => user.send('DELETE', `/posts/delete?id=${id}`),
};

/** Only the account of a disabled user seems to be missing, too. */
const ACCOUNT_OPERATIONS = {
  getProfile: (user: TestUser, { author }: Target) => user.send('GET', `/profiles/${author}`),
  sendFriendRequest: (user: TestUser, { author }: Target) => user.send('POST', `/friends/request?to=${author}`),
  acceptFriendRequest: (user: TestUser, { author }: Target) => user.send('POST', `/friends/accept?from=${author}`),
  declineFriendRequest: (user: TestUser, { author }: Target) => user.send('POST', `/friends/decline?from=${author}`),
  cancelFriendRequest: (user: TestUser, { author }: Target) => user.send('POST', `/friends/cancel?to=${author}`),
  removeFriend: (user: TestUser, { author }: Target) => user.send('DELETE', `/friends/remove?id=${author}`),
  createRelationship: (user: TestUser, { author }: Target) =>
    user.send('POST', `/create_relationship?me=${user.id}&them=${author}`),
  login: (_: TestUser, { email }: Target) =>
    service.send('POST', '/auth/login', { json: { email, password: PASSWORD } }),
};

interface Target {
  id: number;
  image: string;
  picture: string;
  author: number;
  email: string;
}

const stranger = await service.createUser();

/** Creates an author with content that contains `SECRET`. */
async function createTarget(options: { private?: boolean }): Promise<Target & { secrets: string[] }> {
  const author = await service.createUser({ name: `${SECRET} name`, ...options });
  const { body: profile } = await author.send('PUT', '/profiles/me', { form: { image: picture() } });
  const post = await createPost(author, { title: `${SECRET} title`, text: `${SECRET} text`, image: picture() });
  const names = { image: fileName(post.image), picture: fileName(profile.profile_link) };
  const secrets = [SECRET, names.image, names.picture, post.created_at, author.username, author.email];
  return { id: post.id, author: author.id, email: author.email, ...names, secrets };
}

const hidden = await createTarget({ private: true });
const disabled = await createTarget({});
// Only the status of the account hides what its friends may otherwise see.
await stranger.send('POST', `/friends/request?to=${disabled.author}`);
await createAdmin(service.context).act('accounts/disable', { account: String(disabled.author) });
const absentName = `${'0'.repeat(32)}.png`;
const missing: Target = {
  id: hidden.id + 1_000_000,
  image: absentName,
  picture: absentName,
  author: hidden.author + 1_000_000,
  email: 'nobody@people.example',
};

// Otherwise statements of the relay would be mixed with those of requests.
await drainOutbox(service.stores);

/**
 * Statements to ignore: those of the relay, of maintenance and of new connections run at any time, and those of sessions in every
 * request. A request that writes to the outbox takes locks first.
 */
const BACKGROUND =
  /^(?!with "lock").*outbox|sessions|client_connection_check|pg_stat_|pg_control_|^\s*(vacuum|analyze|checkpoint)/s;
const isOfRequest = ({ text }: { text: string }) => !BACKGROUND.test(text);

/** Returns the number of calls of the graph, and of images that were read. */
async function countCalls(): Promise<{ graph: number; images: number }> {
  const exposition = await scrape(service.opsUrl);
  const count = (labels: Record<string, string>) => exposition.value('store_call_duration_seconds_count', labels) ?? 0;
  return { graph: count({ store: 'graph' }), images: count({ store: 'images', verb: 'get' }) };
}

type Operation = (user: TestUser, target: Target) => ReturnType<TestUser['send']>;

/** Runs an operation as a stranger. Returns the response, the statements, and the calls of other stores. */
async function observe(operation: Operation, target: Target) {
  const before = await countCalls();
  const first = statements.length;
  const { status, body } = await operation(stranger, target);
  const executed = statements.slice(first).filter(isOfRequest);
  const { graph, images } = await countCalls();
  return { status, body, executed, calls: { graph: graph - before.graph, images: images - before.images } };
}

const CASES: [what: string, target: typeof hidden, operations: Record<string, Operation>][] = [
  ['hidden', hidden, OPERATIONS],
  ['disabled', disabled, { ...OPERATIONS, ...ACCOUNT_OPERATIONS }],
];

for (const [what, target, operations] of CASES) {
  for (const [name, operation] of Object.entries(operations)) {
    t.test(`${name}: responds to ${what} content as to missing content, and reads none of it`, async (t) => {
      const [forTarget, forMissing] = [await observe(operation, target), await observe(operation, missing)];
      t.equal(forTarget.status, name === 'login' ? 401 : 404);
      t.same([forTarget.status, forTarget.body], [forMissing.status, forMissing.body]);
      t.not(forTarget.executed.length, 0);
      const textsOf = ({ executed }: typeof forTarget) => executed.map(({ text }) => text);
      t.same(textsOf(forTarget), textsOf(forMissing), 'the same statements');
      t.same(forTarget.calls, forMissing.calls, 'the same number of graph calls');
      t.equal(forTarget.calls.images, 0, 'no image is read');
      const read = JSON.stringify(forTarget.executed.map(({ rows }) => rows));
      for (const secret of target.secrets) t.notOk(read.includes(secret), `no row contains ${secret}`);
    });
  }
}
