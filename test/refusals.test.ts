import t from 'tap';
import { drainOutbox } from './support/consistency.js';
import { scrape } from './support/prometheus.js';
import { createPost, picture, startTestService, type TestUser } from './support/service.js';
import { recordStatements } from './support/statements.js';

// Compares the SQL statements and the calls of other stores that requests for hidden and for missing content make. Requests that
// do the same work also take the same time.
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

interface Target {
  id: number;
  image: string;
  picture: string;
}

const stranger = await service.createUser();
const author = await service.createUser({ name: `${SECRET} name`, private: true });
const { body: profile } = await author.send('PUT', '/profiles/me', { form: { image: picture() } });
const post = await createPost(author, { title: `${SECRET} title`, text: `${SECRET} text`, image: picture() });
const hidden: Target = { id: post.id, image: fileName(post.image), picture: fileName(profile.profile_link) };
const absentName = `${'0'.repeat(32)}.png`;
const missing: Target = { id: post.id + 1_000_000, image: absentName, picture: absentName };

// Otherwise statements of the relay would be mixed with those of requests.
await drainOutbox(service.stores);

/**
 * Statements to ignore: those of the relay, of maintenance and of new connections run at any time, and those of sessions in
 * every request.
 */
const BACKGROUND = /outbox|sessions|client_connection_check|pg_stat_|pg_control_|^\s*(vacuum|analyze|checkpoint)/;
const isOfRequest = ({ text }: { text: string }) => !BACKGROUND.test(text);

/** Returns the number of calls of the graph, and of images that were read. */
async function countCalls(): Promise<{ graph: number; images: number }> {
  const exposition = await scrape(service.opsUrl);
  const count = (labels: Record<string, string>) => exposition.value('store_call_duration_seconds_count', labels) ?? 0;
  return { graph: count({ store: 'graph' }), images: count({ store: 'images', verb: 'get' }) };
}

/** Runs an operation as a stranger. Returns the response, the statements, and the calls of other stores. */
async function observe(operation: keyof typeof OPERATIONS, target: Target) {
  const before = await countCalls();
  const first = statements.length;
  const { status, body } = await OPERATIONS[operation](stranger, target);
  const executed = statements.slice(first).filter(isOfRequest);
  const { graph, images } = await countCalls();
  return { status, body, executed, calls: { graph: graph - before.graph, images: images - before.images } };
}

for (const operation of Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]) {
  t.test(`${operation}: responds to hidden content as to missing content, and reads none of it`, async (t) => {
    const [forHidden, forMissing] = [await observe(operation, hidden), await observe(operation, missing)];
    t.equal(forHidden.status, 404);
    t.same(forHidden.body, forMissing.body);
    t.not(forHidden.executed.length, 0);
    const textsOf = ({ executed }: typeof forHidden) => executed.map(({ text }) => text);
    t.same(textsOf(forHidden), textsOf(forMissing), 'the same statements');
    t.same(forHidden.calls, forMissing.calls, 'the same number of graph calls');
    t.equal(forHidden.calls.images, 0, 'no image is read');
    const read = JSON.stringify(forHidden.executed.map(({ rows }) => rows));
    for (const content of [SECRET, hidden.image, hidden.picture, post.created_at, author.username, author.email]) {
      t.notOk(read.includes(content), `no row contains ${content}`);
    }
  });
}
