import type { BenchUser, Dataset, DatasetName } from './data.js';
import { uploadForm } from './image.js';
import type { LoadRequest, RequestSequence } from './load.js';

/** The service or one of the baseline servers. */
export type ServerName = 'service' | 'memory' | 'session' | 'files';

/** The load that one server receives. */
export interface LoadSpec {
  target: ServerName;
  /** @param url the URL of the target, for requests that prepare the run */
  sequences(dataset: Dataset, url: string): readonly RequestSequence[] | Promise<readonly RequestSequence[]>;
  /** Ends a round after this many requests, so that uploads do not fill the disk. */
  maxRequests?: number;
  /** Load that the same server receives at the same time. It is not measured. */
  background?: LoadSpec;
}

/** A comparison of the requests per second of a subject with those of a baseline in the same rounds. */
export interface Workload {
  /** The value of --only. */
  name: string;
  title: string;
  dataset: DatasetName;
  /** The numbers of requests in flight at which it is measured. */
  inFlight: readonly number[];
  subject: LoadSpec;
  baseline: LoadSpec | 'passwords';
  baselineLabel: string;
  /** The name of another workload. This workload's ratio is divided by the median ratio of that one. */
  relativeTo?: string;
}

const bearer = ({ token }: BenchUser) => ({ Authorization: `Bearer ${token}` });

const get = (user: BenchUser, path: string): LoadRequest => ({ method: 'GET', path, headers: bearer(user) });

/** Returns a function that creates one request sequence per user. */
const perUser =
  (createSequence: (user: BenchUser, index: number, dataset: Dataset) => RequestSequence) =>
  (dataset: Dataset): RequestSequence[] =>
    dataset.users.map((user, index) => createSequence(user, index, dataset));

export const FEED: LoadSpec = { target: 'service', sequences: perUser((user) => [get(user, '/posts')]) };

const FROM_MEMORY: LoadSpec = { target: 'memory', sequences: () => [[{ method: 'GET', path: '/posts', headers: {} }]] };

const WITH_SESSION: LoadSpec = { target: 'session', sequences: FEED.sequences };

const publicPostOf = ({ publicPostIds }: Dataset, index: number) => publicPostIds[index % publicPostIds.length];

const LIKES: LoadSpec = {
  target: 'service',
  sequences: perUser((user, index, dataset) =>
    (['POST', 'DELETE'] as const).map((method) => ({
      method,
      path: `/posts/like?id=${publicPostOf(dataset, index)}`,
      headers: bearer(user),
    })),
  ),
};

const LOGINS: LoadSpec = {
  target: 'service',
  sequences: perUser(({ email }, _, { password }) => [
    {
      method: 'POST',
      path: '/auth/login',
      headers: { 'Content-Type': 'application/json' },
      bodyBase64: Buffer.from(JSON.stringify({ email, password })).toString('base64'),
    },
  ]),
};

const UPLOADS_PER_ROUND = 200;

const { headers: formHeaders, bytes: form } = uploadForm();
const FORM_BASE64 = form.toString('base64');

function upload(user: BenchUser): LoadRequest {
  return {
    method: 'POST',
    path: '/posts/create',
    headers: { ...bearer(user), ...formHeaders },
    bodyBase64: FORM_BASE64,
  };
}

/** Uploads an image and returns its path. */
async function uploadImage({ users }: Dataset, url: string): Promise<string> {
  const { method, path, headers } = upload(users[0] as BenchUser);
  const response = await fetch(url + path, { method, headers, body: form });
  return ((await response.json()) as { image: string }).image;
}

const pageAt = (offset: (dataset: Dataset) => number): LoadSpec => ({
  target: 'service',
  sequences: perUser((user, _, dataset) => [get(user, `/posts?offset=${offset(dataset)}`)]),
});

const ALL_LEVELS = [1, 32, 128];
const HIGHEST_LEVEL = [128];

const B0 = { baseline: FROM_MEMORY, baselineLabel: 'B0' };
const B1 = { baseline: WITH_SESSION, baselineLabel: 'B1' };

/** In order: a workload follows the one in its `relativeTo`, and uploads come last per dataset because they change the feed. */
export const WORKLOADS: readonly Workload[] = [
  { name: 'feed', title: 'GET /posts', dataset: 'base', inFlight: ALL_LEVELS, subject: FEED, ...B0 },
  {
    name: 'post',
    title: 'GET /posts/{id}',
    dataset: 'base',
    inFlight: ALL_LEVELS,
    subject: {
      target: 'service',
      sequences: perUser((user, index, dataset) => [get(user, `/posts/${publicPostOf(dataset, index)}`)]),
    },
    ...B0,
  },
  { name: 'like', title: 'POST, DELETE /posts/like', dataset: 'base', inFlight: ALL_LEVELS, subject: LIKES, ...B1 },
  {
    name: 'me',
    title: 'GET /auth/me',
    dataset: 'base',
    inFlight: ALL_LEVELS,
    subject: { target: 'service', sequences: perUser((user) => [get(user, '/auth/me')]) },
    ...B1,
  },
  {
    name: 'login',
    title: 'POST /auth/login',
    dataset: 'base',
    inFlight: ALL_LEVELS,
    subject: LOGINS,
    baseline: 'passwords',
    baselineLabel: 'B2',
  },
  {
    name: 'flood',
    title: 'GET /posts during a flood of logins',
    dataset: 'base',
    inFlight: HIGHEST_LEVEL,
    subject: { ...FEED, background: LOGINS },
    baseline: FEED,
    baselineLabel: 'no logins',
  },
  {
    name: 'memory',
    title: 'RSS under GET /posts, second half of the run',
    dataset: 'base',
    inFlight: HIGHEST_LEVEL,
    subject: FEED,
    baseline: FEED,
    baselineLabel: 'first half',
  },
  {
    name: 'image-up',
    title: 'Image upload',
    dataset: 'base',
    inFlight: ALL_LEVELS,
    subject: { target: 'service', sequences: perUser((user) => [upload(user)]), maxRequests: UPLOADS_PER_ROUND },
    baseline: {
      target: 'files',
      sequences: () => [
        [{ method: 'POST', path: '/files', headers: { 'Content-Type': 'image/png' }, bodyBase64: FORM_BASE64 }],
      ],
      maxRequests: UPLOADS_PER_ROUND,
    },
    baselineLabel: 'B3',
  },
  {
    name: 'image-down',
    title: 'Image download',
    dataset: 'base',
    inFlight: ALL_LEVELS,
    subject: {
      target: 'service',
      async sequences(dataset, url) {
        const path = await uploadImage(dataset, url);
        return dataset.users.map((user) => [get(user, path)]);
      },
    },
    baseline: { target: 'files', sequences: () => [[{ method: 'GET', path: '/files/1', headers: {} }]] },
    baselineLabel: 'B3',
  },
  {
    name: 'feed-tenfold',
    title: 'GET /posts, ten times the posts and likes',
    dataset: 'tenfold',
    inFlight: HIGHEST_LEVEL,
    subject: FEED,
    relativeTo: 'feed',
    ...B0,
  },
  {
    name: 'offset',
    title: 'GET /posts from offset 10,000',
    dataset: 'tenfold',
    inFlight: [1],
    subject: pageAt(({ size }) => size.offset),
    baseline: FEED,
    baselineLabel: 'offset 0',
  },
  {
    name: 'deep-offset',
    title: 'GET /posts from offset 100,000',
    dataset: 'tenfold',
    inFlight: [1],
    subject: pageAt(({ size }) => size.deepOffset),
    baseline: FEED,
    baselineLabel: 'offset 0',
  },
  {
    name: 'feed-closed',
    title: 'GET /posts, 99% private accounts',
    dataset: 'private',
    inFlight: HIGHEST_LEVEL,
    subject: FEED,
    relativeTo: 'feed',
    ...B0,
  },
  {
    name: 'popular-feed',
    title: 'GET /posts with a post of 100,000 likes',
    dataset: 'popular',
    inFlight: HIGHEST_LEVEL,
    subject: FEED,
    relativeTo: 'feed',
    ...B0,
  },
  {
    name: 'popular-post',
    title: 'GET /posts/{id} of a post with 100,000 likes',
    dataset: 'popular',
    inFlight: HIGHEST_LEVEL,
    subject: {
      target: 'service',
      sequences: perUser((user, _, dataset) => [get(user, `/posts/${dataset.popularPostId}`)]),
    },
    relativeTo: 'post',
    ...B0,
  },
  {
    name: 'popular-person',
    title: 'GET /posts by a user with 5,000 friends',
    dataset: 'popular',
    inFlight: HIGHEST_LEVEL,
    subject: { target: 'service', sequences: ({ popularUser }) => [[get(popularUser, '/posts')]] },
    relativeTo: 'feed',
    ...B0,
  },
];

/**
 * Returns the named workload, preceded by the one in its `relativeTo`, or nothing if the name is unknown. Without a name,
 * returns all workloads except `memory`, which takes minutes.
 */
export function selectWorkloads(only: string | undefined): Workload[] {
  if (only === undefined) return WORKLOADS.filter(({ name }) => name !== 'memory');
  const selected = WORKLOADS.find(({ name }) => name === only);
  if (!selected) return [];
  const reference = WORKLOADS.find(({ name }) => name === selected.relativeTo);
  if (!reference) return [selected];
  return [{ ...reference, inFlight: selected.inFlight }, selected];
}
