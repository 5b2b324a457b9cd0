import { formOf, pngBlob } from '../support/request.js';
import type { BenchUser } from './dataset.js';
import { createImage } from './image.js';

export interface BenchRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
}

/** Requests that are repeated, on the service and on the baseline. */
export interface Workload {
  /** The value of --only. */
  name: string;
  title: string;
  requests: (user: BenchUser) => BenchRequest[];
  /** Whether it is not measured on another checkout, because the last release does not support its requests. */
  isNew?: boolean;
}

/** Returns the requests of a user whose path matches. */
const getting =
  (pattern: RegExp) =>
  ({ token, responses }: BenchUser): BenchRequest[] =>
    responses.flatMap(({ path }) =>
      pattern.test(path) ? [{ method: 'GET', path, headers: { Authorization: `Bearer ${token}` } }] : [],
    );

/** Returns the requests that create a post with these fields, as `fetch` would send them. */
async function creating(fields: Parameters<typeof formOf>[0]) {
  const form = new Response(formOf(fields));
  const formType = form.headers.get('content-type') ?? '';
  const body = Buffer.from(await form.arrayBuffer());
  return ({ token }: BenchUser): BenchRequest[] => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': formType };
    return [{ method: 'POST', path: '/posts/create', headers, body }];
  };
}

const text = { title: 'A post', text: 'Created by the benchmark.' };
/** The size is that of a photo for the web. */
const image = pngBlob(createImage(100 * 1024));

/** In the order of their measurement. New posts come last, because they change the feed. */
export const WORKLOADS: readonly Workload[] = [
  { name: 'feed', title: 'GET /posts', requests: getting(/^\/posts$/) },
  { name: 'cursor', title: 'GET /posts?cursor=…', requests: getting(/cursor/), isNew: true },
  { name: 'post', title: 'GET /posts/{id}', requests: getting(/^\/posts\/\d+$/) },
  { name: 'me', title: 'GET /auth/me', requests: getting(/me$/) },
  { name: 'create', title: 'POST /posts/create', requests: await creating(text) },
  { name: 'upload', title: 'POST /posts/create, 100 KiB', requests: await creating({ ...text, image }) },
];
