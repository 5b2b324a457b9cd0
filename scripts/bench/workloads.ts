import { createPost } from './check.js';
import type { BenchUser, Dataset, DatasetName } from './dataset.js';
import type { BenchRequest, Load } from './load.js';
import type { ServerName } from './servers.js';
import { rotate } from './statistics.js';
import type { StackName } from './stores.js';

/** The load that one server receives. */
export interface LoadSpec {
  server: ServerName;
  /** @param url the URL of the server, for requests that prepare the load */
  connections(inFlight: number, dataset: Dataset, url: string): Load['connections'] | Promise<Load['connections']>;
  /** Whether it is not measured on another checkout, because earlier releases do not support its requests. */
  isNew?: boolean;
  /** Ends a measurement after this many requests, so that uploads do not fill the disk. */
  maxRequests?: number;
}

/** A comparison of the requests per second of a subject with those of a baseline in the same rounds. */
export interface Workload {
  dataset: DatasetName;
  /** The value of --only. */
  name: string;
  title: string;
  subject: LoadSpec;
  baseline: LoadSpec;
  /**
   * The numbers of requests in flight, and for each of them the minimum ratio, if there is a goal. Without an array, the
   * workload is not measured on that stack.
   */
  goals: { levels: readonly number[] } & Record<StackName, readonly (number | undefined)[] | undefined>;
  /** The name of another workload. The ratio is divided by the ratio of that workload. */
  relativeTo: string | undefined;
}

const requestAs = ({ token }: BenchUser, path: string, method: BenchRequest['method'] = 'GET'): BenchRequest => {
  return { method, path, headers: { Authorization: `Bearer ${token}` } };
};

/** Creates a list of requests for each connection. */
const perConnection = (
  server: ServerName,
  requests: (dataset: Dataset, connection: number) => BenchRequest[],
): LoadSpec => ({
  server,
  connections: (inFlight, dataset) => Array.from({ length: inFlight }, (_, index) => requests(dataset, index)),
});

/** Creates a load in which each connection cycles through the requests of all users, starting with a different user. */
const perUser = (server: ServerName, request: (user: BenchUser, dataset: Dataset) => BenchRequest) =>
  perConnection(server, (dataset, connection) =>
    rotate(dataset.users, connection).map((user) => request(user, dataset)),
  );

const at = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item;

const FEED = perUser('service', (user) => requestAs(user, '/posts'));
const FEED_WITHOUT_REDIS: LoadSpec = { ...FEED, server: 'withoutRedis' };
const POSTS: LoadSpec = { ...FEED, server: 'posts' };

const SINGLE_POSTS = perConnection('service', ({ users, publicPostIds }, connection) =>
  users.map((user, index) => requestAs(user, `/posts/${at(publicPostIds, connection * users.length + index)}`)),
);

/** Each connection likes and unlikes a post of its own. */
const LIKES = perConnection('service', ({ users, publicPostIds }, connection) => {
  const path = `/posts/like?id=${at(publicPostIds, connection)}`;
  return (['POST', 'DELETE'] as const).map((method) => requestAs(at(users, connection), path, method));
});

const ME = perUser('service', (user) => requestAs(user, '/auth/me'));
const ACCOUNT: LoadSpec = { ...ME, server: 'account' };

const LOGINS = perConnection('service', ({ loginEmails, password }, connection) =>
  rotate(loginEmails, 4 * connection).map((email) => ({
    method: 'POST',
    path: '/auth/login',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })),
);
const ARGON2: LoadSpec = { ...LOGINS, server: 'argon2' };

/** Allows two uploads on each of 128 connections. */
const maxRequests = 256;
const UPLOADS: LoadSpec = {
  ...perUser('service', (user) => ({ ...requestAs(user, '/posts/create', 'POST'), upload: true })),
  maxRequests,
};
const FILE: BenchRequest = { method: 'GET', path: '/files/1', headers: { 'Content-Type': 'image/png' } };
const FILE_DOWNLOADS = perConnection('files', () => [FILE]);
const FILE_UPLOADS: LoadSpec = {
  ...perConnection('files', () => [{ ...FILE, method: 'POST', path: '/files', upload: true }]),
  maxRequests,
};

const DOWNLOADS: LoadSpec = {
  server: 'service',
  async connections(inFlight, dataset, url) {
    const { image } = await createPost(url, at(dataset.users, 0).token);
    return perUser('service', (user) => requestAs(user, image)).connections(inFlight, dataset, url);
  },
};

const DEEP: LoadSpec = { ...perUser('service', (user) => requestAs(user, user.deepPath)), isNew: true };

const POPULAR_POST = perUser('service', (user, { newestPostId }) => requestAs(user, `/posts/${newestPostId}`));
const POPULAR_USER = perConnection('service', ({ users }) => [requestAs(at(users, 0), '/posts')]);

/** The minimum ratio for each number of requests in flight; undefined if there is no goal. */
type Minimums = readonly (number | undefined)[];
const NONE = [undefined, undefined, undefined];
const REAL_FEED = [0.025, 0.3, 0.45];
const REDIS = [undefined, 0.95, 0.95];

const goals = (embedded: Minimums | undefined, services = embedded, levels = [1, 32, 128]) => {
  return { levels, embedded, services };
};

/** Returns the goals of a workload that is measured with one number of requests in flight, on both stacks. */
const goalAt = (inFlight: number, goal: number) => goals([goal], [goal], [inFlight]);

function workload(
  name: string,
  title: string,
  subject: LoadSpec,
  baseline: LoadSpec,
  goals: Workload['goals'],
  dataset: DatasetName = 'base',
  relativeTo?: string,
): Workload {
  const comparison = relativeTo === undefined ? '' : ` vs. \`${relativeTo}\``;
  return { name, title: title + comparison, subject, baseline, goals, dataset, relativeTo };
}

/**
 * In the order of their measurement: a workload follows the one in its `relativeTo`. Those that create posts come last in their
 * dataset, because they change the feed.
 */
export const WORKLOADS: readonly Workload[] = [
  workload('feed', 'GET /posts', FEED, POSTS, goals([0.05, 0.35, 0.5], REAL_FEED)),
  workload('feed-without-redis', 'GET /posts, without Redis', FEED_WITHOUT_REDIS, POSTS, goals(undefined, REAL_FEED)),
  workload('redis', 'GET /posts, with Redis vs. without', FEED, FEED_WITHOUT_REDIS, goals(undefined, REDIS)),
  workload('post', 'GET /posts/{id}', SINGLE_POSTS, POSTS, goals(NONE, [0.03, 0.2, 0.35])),
  workload('like', 'POST, DELETE /posts/like', LIKES, ACCOUNT, goals(NONE, [0.02, 0.15, 0.25])),
  workload('me', 'GET /auth/me', ME, ACCOUNT, goals([0.7, 0.8, 0.8])),
  // With more in flight, the service refuses logins with 503 instead of letting them wait.
  workload('login', 'POST /auth/login', LOGINS, ARGON2, goals([0.85, 0.9], [0.85, 0.9], [1, 32])),
  workload('upload', 'Image upload', UPLOADS, FILE_UPLOADS, goals([undefined, 0.3, 0.4])),
  workload('download', 'Image download', DOWNLOADS, FILE_DOWNLOADS, goals([0.6, 0.6, 0.6])),
  workload('tenfold', 'GET /posts, ten times the posts', FEED, POSTS, goalAt(128, 0.9), 'tenfold', 'feed'),
  workload('cursor', 'GET /posts by cursor, depth 100,000 vs. 0', DEEP, FEED, goalAt(1, 0.5), 'tenfold'),
  workload('private', 'GET /posts, 99 % private accounts', FEED, POSTS, goalAt(128, 0.5), 'private', 'feed'),
  workload('popular-feed', 'GET /posts, a post with 100,000 likes', FEED, POSTS, goalAt(128, 0.5), 'popular', 'feed'),
  workload('popular-post', 'GET /posts/{id}, 100,000 likes', POPULAR_POST, POSTS, goalAt(128, 0.5), 'popular', 'post'),
  workload('popular-user', 'GET /posts, 5,000 friends', POPULAR_USER, POSTS, goalAt(128, 0.5), 'popular', 'feed'),
];

/** Returns all workloads, or the named one after the one in its `relativeTo`; none if the name is unknown. */
export function selectWorkloads(only: string | undefined): Workload[] {
  const selected = WORKLOADS.find(({ name }) => name === only);
  return WORKLOADS.filter(({ name }) => only === undefined || name === only || name === selected?.relativeTo);
}
