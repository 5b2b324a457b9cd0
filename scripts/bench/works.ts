import type { Caller, Data, DataName } from './data.js';
import { uploadForm } from './image.js';
import type { LoadRequest, Turn } from './load.js';

/** Who answers: the service, or one of the yardsticks. */
export type ServerName = 'service' | 'memory' | 'session' | 'files';

/** What is asked of one of them. */
export interface Question {
  of: ServerName;
  /** @param url where that server is, for what has to be there first */
  turns(data: Data, url: string): readonly Turn[] | Promise<readonly Turn[]>;
  /** So many answers end a round early: each of them fills the disk. */
  amount?: number;
  /** What else the same server is asked meanwhile. */
  beside?: Question;
}

/** Something to measure: how a subject does, as a share of how the reference does in the same round. */
export interface Work {
  name: string;
  title: string;
  data: DataName;
  inFlight: readonly number[];
  subject: Question;
  reference: Question | 'passwords';
  /** How the table names the reference. */
  yardstick: string;
  /** Another work: this one's ratio is told as a share of that one's. */
  against?: string;
}

const bearer = ({ token }: Caller) => ({ Authorization: `Bearer ${token}` });

const get = (caller: Caller, path: string): LoadRequest => ({ method: 'GET', path, headers: bearer(caller) });

/** Each caller asks in turn. */
const byAll =
  (request: (caller: Caller, index: number, data: Data) => Turn) =>
  (data: Data): Turn[] =>
    data.callers.map((caller, index) => request(caller, index, data));

export const FEED: Question = { of: 'service', turns: byAll((caller) => [get(caller, '/posts')]) };

const FROM_MEMORY: Question = { of: 'memory', turns: () => [[{ method: 'GET', path: '/posts', headers: {} }]] };

const WITH_SESSION: Question = { of: 'session', turns: FEED.turns };

const somePost = ({ publicPosts }: Data, index: number) => publicPosts[index % publicPosts.length];

const LIKES: Question = {
  of: 'service',
  turns: byAll((caller, index, data) =>
    (['POST', 'DELETE'] as const).map((method) => ({
      method,
      path: `/posts/like?id=${somePost(data, index)}`,
      headers: bearer(caller),
    })),
  ),
};

const LOGINS: Question = {
  of: 'service',
  turns: byAll(({ email }, _, { password }) => [
    {
      method: 'POST',
      path: '/auth/login',
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ email, password })).toString('base64'),
    },
  ]),
};

/** How many images one round sends up. */
const UPLOADS = 200;

const { headers: formHeaders, bytes: form } = uploadForm();
const FORM = form.toString('base64');

function upload(caller: Caller): LoadRequest {
  return { method: 'POST', path: '/posts/create', headers: { ...bearer(caller), ...formHeaders }, body: FORM };
}

/** Publishes one image, and answers where it is. */
async function publishImage({ callers }: Data, url: string): Promise<string> {
  const { method, path, headers } = upload(callers[0] as Caller);
  const response = await fetch(url + path, { method, headers, body: form });
  return ((await response.json()) as { image: string }).image;
}

const pageAt = (offset: (data: Data) => number): Question => ({
  of: 'service',
  turns: byAll((caller, _, data) => [get(caller, `/posts?offset=${offset(data)}`)]),
});

const USUAL = [1, 32, 128];
const BUSY = [128];

const Y0 = { reference: FROM_MEMORY, yardstick: 'Y0' };
const Y1 = { reference: WITH_SESSION, yardstick: 'Y1' };

/** The growth works come with the work that they are held against. Images come last, since they change what is newest. */
export const WORKS: readonly Work[] = [
  { name: 'feed', title: 'GET /posts', data: 'base', inFlight: USUAL, subject: FEED, ...Y0 },
  {
    name: 'post',
    title: 'GET /posts/{id}',
    data: 'base',
    inFlight: USUAL,
    subject: {
      of: 'service',
      turns: byAll((caller, index, data) => [get(caller, `/posts/${somePost(data, index)}`)]),
    },
    ...Y0,
  },
  { name: 'like', title: 'POST, DELETE /posts/like', data: 'base', inFlight: USUAL, subject: LIKES, ...Y1 },
  {
    name: 'me',
    title: 'GET /auth/me',
    data: 'base',
    inFlight: USUAL,
    subject: { of: 'service', turns: byAll((caller) => [get(caller, '/auth/me')]) },
    ...Y1,
  },
  {
    name: 'login',
    title: 'POST /auth/login',
    data: 'base',
    inFlight: USUAL,
    subject: LOGINS,
    reference: 'passwords',
    yardstick: 'Y2',
  },
  {
    name: 'flood',
    title: 'GET /posts while logins flood',
    data: 'base',
    inFlight: BUSY,
    subject: { ...FEED, beside: LOGINS },
    reference: FEED,
    yardstick: 'without',
  },
  {
    name: 'memory',
    title: 'Memory under GET /posts, second half to first',
    data: 'base',
    inFlight: BUSY,
    subject: FEED,
    reference: FEED,
    yardstick: 'itself',
  },
  {
    name: 'image-up',
    title: 'An image up',
    data: 'base',
    inFlight: USUAL,
    subject: { of: 'service', turns: byAll((caller) => [upload(caller)]), amount: UPLOADS },
    reference: {
      of: 'files',
      turns: () => [[{ method: 'POST', path: '/files', headers: { 'Content-Type': 'image/png' }, body: FORM }]],
      amount: UPLOADS,
    },
    yardstick: 'Y3',
  },
  {
    name: 'image-down',
    title: 'An image down',
    data: 'base',
    inFlight: USUAL,
    subject: {
      of: 'service',
      async turns(data, url) {
        const path = await publishImage(data, url);
        return data.callers.map((caller) => [get(caller, path)]);
      },
    },
    reference: { of: 'files', turns: () => [[{ method: 'GET', path: '/files/1', headers: {} }]] },
    yardstick: 'Y3',
  },
  {
    name: 'feed-tenfold',
    title: 'GET /posts, ten times the posts and likes',
    data: 'tenfold',
    inFlight: BUSY,
    subject: FEED,
    against: 'feed',
    ...Y0,
  },
  {
    name: 'offset',
    title: 'GET /posts from offset 10,000',
    data: 'tenfold',
    inFlight: [1],
    subject: pageAt(({ size }) => size.offset),
    reference: FEED,
    yardstick: 'offset 0',
  },
  {
    name: 'deep-offset',
    title: 'GET /posts from offset 100,000',
    data: 'tenfold',
    inFlight: [1],
    subject: pageAt(({ size }) => size.deepOffset),
    reference: FEED,
    yardstick: 'offset 0',
  },
  {
    name: 'feed-closed',
    title: 'GET /posts, 99 % private',
    data: 'closed',
    inFlight: BUSY,
    subject: FEED,
    against: 'feed',
    ...Y0,
  },
  {
    name: 'popular-feed',
    title: 'GET /posts with a post of 100,000 likes',
    data: 'popular',
    inFlight: BUSY,
    subject: FEED,
    against: 'feed',
    ...Y0,
  },
  {
    name: 'popular-post',
    title: 'GET /posts/{id} of a post with 100,000 likes',
    data: 'popular',
    inFlight: BUSY,
    subject: { of: 'service', turns: byAll((caller, _, data) => [get(caller, `/posts/${data.popularPost}`)]) },
    against: 'post',
    ...Y0,
  },
  {
    name: 'popular-person',
    title: 'GET /posts by a caller with 5,000 friends',
    data: 'popular',
    inFlight: BUSY,
    subject: { of: 'service', turns: ({ popular }) => [[get(popular, '/posts')]] },
    against: 'feed',
    ...Y0,
  },
];

/** What one name asks for, with what it is held against; everything but the long one when none is given. None by a wrong name. */
export function selectWorks(only: string | undefined): Work[] {
  if (only === undefined) return WORKS.filter(({ name }) => name !== 'memory');
  const chosen = WORKS.find(({ name }) => name === only);
  if (!chosen) return [];
  const base = WORKS.find(({ name }) => name === chosen.against);
  if (!base) return [chosen];
  return [{ ...base, inFlight: chosen.inFlight }, chosen];
}
