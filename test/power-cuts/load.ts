import { png } from '../../scripts/contract-test/client/index.js';
import { pngChunk } from '../../scripts/support/png.js';
import type { Random } from '../support/random.js';
import type { RequestOptions } from '../support/requests.js';
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

/** The transitions of a friendship that the client requests. */
const FRIENDSHIP_STEPS = ['POST /friends/request?to=', 'POST /friends/accept?from=', 'DELETE /friends/remove?id='];

/**
 * A sequential client with a user of its own, and a friend of that user who reads what the user writes. After each write, it
 * records the responses to the reads that the write may have changed.
 */
export class RecordingClient {
  readonly posts: Post[] = [];
  #user = { id: 0, email: '', password: '', token: '' };
  #friend = { id: 0, token: '' };
  #otherTokens: string[] = [];
  #picture: string | null = null;
  #friendship = 0;
  #count = 0;

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
  async #write(request: string, options: RequestOptions, readsOf: (body: Post) => Read[]): Promise<void> {
    const [method = '', path = ''] = request.split(' ');
    const start = now();
    const { status, body } = await this.#send(method, path, { token: this.#user.token, ...options });
    const end = now();
    if (status >= 300) throw new Error(`${request} returned ${status}: ${JSON.stringify(body)}`);
    const facts = [];
    for (const read of readsOf(body)) facts.push({ read, response: await responseTo(this.#send, read) });
    this.writes.push({ request, start, end, facts });
  }

  #read = (path: string): Read => ({ method: 'GET', path, options: { token: this.#friend.token } });
  /** Without the body, which contains the name. */
  #readSession = (token: string): Read => ({ method: 'HEAD', path: '/auth/me', options: { token } });
  #readLogin(password: string): Read {
    return { method: 'POST', path: '/auth/login', options: { json: { email: this.#user.email, password } } };
  }
  #readPost = ({ id, image }: Post): Read[] => [
    this.#read(`/posts/${id}`),
    ...(image === null ? [] : [this.#read(image)]),
  ];
  #readProfile = (): Read[] => [
    ...[`/profiles/${this.#user.id}`, '/friends', '/friends/requests'].map(this.#read),
    ...(this.#picture === null ? [] : [this.#read(this.#picture)]),
  ];

  async register(): Promise<void> {
    this.#friend = await registerWith(this.#send);
    const { login, ...user } = await registerWith(this.#send);
    this.#user = user;
    await this.changeProfile();
    await this.changePassword();
  }

  async createPost(): Promise<void> {
    const text = longText(this.random, this.random.pick([3, 100, 3_000]));
    const form = { title: 'A title', text, ...(this.random.chance(0.5) && { image: noiseImage(this.random) }) };
    await this.#write('POST /posts/create', { form }, (post) => {
      this.posts.push(post);
      return this.#readPost(post);
    });
  }

  /** Creates a post of the friend with an idempotency key, which a repeated request proves. */
  async createPostWithKey(): Promise<void> {
    this.#count += 1;
    const form = { title: 'A title', text: 'With a key' };
    const options = { token: this.#friend.token, form, headers: { 'Idempotency-Key': `key-${this.#count}` } };
    await this.#write('POST /posts/create', options, () => [{ method: 'POST', path: '/posts/create', options }]);
  }

  async editPost(post: Post): Promise<void> {
    const old = { ...post };
    const text = longText(this.random, this.random.pick([50, 9_999]));
    const changes = [{}, { image: noiseImage(this.random) }, ...(post.image ? [{ remove_image: 'true' }] : [])];
    const form = { text, ...this.random.pick<Record<string, string | Blob>>(changes) };
    await this.#write(`PUT /posts/edit?id=${post.id}`, { form }, ({ image }) => {
      post.image = image;
      const replaced = old.image !== null && old.image !== image ? [this.#read(old.image)] : [];
      return [...this.#readPost(post), ...replaced];
    });
  }

  async deletePost(post: Post): Promise<void> {
    this.posts.splice(this.posts.indexOf(post), 1);
    await this.#write(`DELETE /posts/delete?id=${post.id}`, {}, () => this.#readPost(post));
  }

  /** Likes or unlikes an own post. */
  async toggleLike(post: Post): Promise<void> {
    const method = this.random.pick(['POST', 'DELETE']);
    await this.#write(`${method} /posts/like?id=${post.id}`, {}, () => this.#readPost(post));
  }

  async advanceFriendship(): Promise<void> {
    const isAcceptance = this.#friendship % 3 === 1;
    const [token, other] = isAcceptance ? [this.#friend.token, this.#user.id] : [this.#user.token, this.#friend.id];
    const request = `${FRIENDSHIP_STEPS[this.#friendship % 3]}${other}`;
    this.#friendship += 1;
    await this.#write(request, { token }, this.#readProfile);
  }

  async changeProfile(): Promise<void> {
    const old = this.#picture === null ? [] : [this.#read(this.#picture)];
    const image = this.random.chance(0.6) && noiseImage(this.random);
    const form = { name: longText(this.random, 10), ...(image && { image }) };
    await this.#write('PUT /profiles/me', { form }, (body) => {
      this.#picture = (body as unknown as { profile_link: string | null }).profile_link;
      return [...old, ...this.#readProfile()];
    });
  }

  /** Changes the password, which ends all sessions, and logs in again. */
  async changePassword(): Promise<void> {
    const { email, password: old, token } = this.#user;
    this.#count += 1;
    const password = `Quiet-${this.#count}-Harbour!`;
    const ended = [token, ...this.#otherTokens.splice(0)];
    await this.#write('PUT /profiles/me', { form: { current_password: old, password } }, () => [
      ...[old, password].map((either) => this.#readLogin(either)),
      ...ended.map(this.#readSession),
    ]);
    this.#user.password = password;
    this.#user.token = (await this.#send('POST', '/auth/login', { json: { email, password } })).body.token;
  }

  /** Logs in, which starts an additional session. */
  async addDevice(): Promise<void> {
    const { email, password } = this.#user;
    await this.#write('POST /auth/login', { json: { email, password } }, (body) => {
      const { token } = body as unknown as { token: string };
      this.#otherTokens.push(token);
      return [this.#readSession(token)];
    });
  }

  async logOut(): Promise<void> {
    const token = this.#otherTokens.pop();
    if (token) await this.#write('POST /auth/logout', { token }, () => [this.#readSession(token)]);
  }

  async deleteAccount(): Promise<void> {
    const { password, token } = this.#user;
    await this.#write('DELETE /profiles/me', { json: { password } }, () => [
      this.#readLogin(password),
      ...[token, ...this.#otherTokens].map(this.#readSession),
      ...this.#readProfile(),
      ...this.posts.flatMap(this.#readPost),
    ]);
  }

  /** Sends a random request. */
  async step(): Promise<void> {
    const { random, posts } = this;
    const choice = random.below(20);
    if (posts.length === 0 || choice < 5) await this.createPost();
    else if (choice < 8) await this.editPost(random.pick(posts));
    else if (choice < 9) await this.deletePost(random.pick(posts));
    else if (choice < 11) await this.toggleLike(random.pick(posts));
    else if (choice < 13) await this.advanceFriendship();
    else if (choice < 14) await this.createPostWithKey();
    else if (choice < 16) await this.changeProfile();
    else if (choice < 18) await this.addDevice();
    else if (choice < 19) await this.logOut();
    else await this.changePassword();
  }
}
