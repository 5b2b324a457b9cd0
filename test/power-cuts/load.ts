import { png } from '../../scripts/contract-test/client/index.js';
import { pngChunk } from '../../scripts/support/png.js';
import type { HttpOptions } from '../support/http.js';
import type { Random } from '../support/random.js';
import { registerWith } from '../support/users.js';
import { type CompletedWrite, createThrowingSender, type Read, responseTo } from './facts.js';
import { now } from './trace.js';

/** Returns a PNG of about this size. Its pixel data is random, so that no two files contain the same sector. */
function noiseImage(random: Random): Blob {
  const noise = Buffer.from(Array.from({ length: random.pick([100, 3_000, 20_000, 70_000]) }, () => random.below(256)));
  return new Blob([new Uint8Array(png(pngChunk('IDAT', noise)))], { type: 'image/png' });
}

/** Returns a text of Chinese characters, three bytes each, that hardly compresses. */
const longText = (random: Random, length: number): string =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + random.below(4096))).join('');

interface Post {
  id: number;
  image: string | null;
}

/**
 * A sequential client with a user of its own. After each write, it records the responses to the reads that the write may have
 * changed. All operations write to the same database and the same image directory, so a few of them are enough.
 */
export class RecordingClient {
  readonly #posts: Post[] = [];
  #user = { id: 0, token: '' };
  #picture: string | null = null;

  constructor(
    readonly random: Random,
    readonly writes: CompletedWrite[],
    /** Returns the URL of the service, which changes when the service is restarted. */
    readonly urlOfService: () => string,
  ) {}

  get #send() {
    return createThrowingSender(this.urlOfService());
  }

  /** Sends a write, and records the responses to the reads that `readsOf` returns for its response. */
  async #write(request: string, options: HttpOptions, readsOf: (body: Post) => Read[]): Promise<void> {
    const [method = '', path = ''] = request.split(' ');
    const start = now();
    const { status, body } = await this.#send(method, path, { token: this.#user.token, ...options });
    const end = now();
    if (status >= 300) throw new Error(`${request} returned ${status}: ${JSON.stringify(body)}`);
    const facts = [];
    for (const read of readsOf(body)) facts.push({ read, response: await responseTo(this.#send, read) });
    this.writes.push({ request, start, end, facts });
  }

  #read = (...paths: (string | null)[]): Read[] =>
    paths.flatMap((path) => (path === null ? [] : { path, token: this.#user.token }));

  async register(): Promise<void> {
    this.#user = await registerWith(this.#send);
    await this.#changeProfile();
    await this.#createPost();
  }

  async #createPost(): Promise<void> {
    const text = longText(this.random, this.random.pick([3, 100, 3_000]));
    const form = { title: 'A title', text, ...(this.random.chance(0.5) && { image: noiseImage(this.random) }) };
    await this.#write('POST /posts/create', { form }, (post) => {
      this.#posts.push(post);
      return this.#read(`/posts/${post.id}`, post.image);
    });
  }

  async #editPost(post: Post): Promise<void> {
    const old = post.image;
    const text = longText(this.random, this.random.pick([50, 9_999]));
    const changes = [{}, { image: noiseImage(this.random) }, ...(post.image ? [{ remove_image: 'true' }] : [])];
    const form = { text, ...this.random.pick<Record<string, string | Blob>>(changes) };
    await this.#write(`PUT /posts/edit?id=${post.id}`, { form }, ({ image }) => {
      post.image = image;
      return this.#read(`/posts/${post.id}`, image, old === image ? null : old);
    });
  }

  async #deletePost(post: Post): Promise<void> {
    this.#posts.splice(this.#posts.indexOf(post), 1);
    await this.#write(`DELETE /posts/delete?id=${post.id}`, {}, () => this.#read(`/posts/${post.id}`, post.image));
  }

  async #toggleLike(post: Post): Promise<void> {
    const method = this.random.pick(['POST', 'DELETE']);
    await this.#write(`${method} /posts/like?id=${post.id}`, {}, () => this.#read(`/posts/${post.id}`));
  }

  async #changeProfile(): Promise<void> {
    const old = this.#picture;
    const image = this.random.chance(0.6) && noiseImage(this.random);
    const form = { name: longText(this.random, 10), ...(image && { image }) };
    await this.#write('PUT /profiles/me', { form }, (body) => {
      this.#picture = (body as unknown as { profile_link: string | null }).profile_link;
      return this.#read(`/profiles/${this.#user.id}`, this.#picture, old === this.#picture ? null : old);
    });
  }

  /** Sends a random request. */
  async step(): Promise<void> {
    const choice = this.random.below(10);
    const posts = this.#posts;
    if (posts.length === 0 || choice < 3) await this.#createPost();
    else if (choice < 5) await this.#editPost(this.random.pick(posts));
    else if (choice < 6) await this.#deletePost(this.random.pick(posts));
    else if (choice < 8) await this.#toggleLike(this.random.pick(posts));
    else await this.#changeProfile();
  }
}
