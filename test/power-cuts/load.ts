import { createHash } from 'node:crypto';
import { png } from '../../scripts/contract-test/client/index.js';
import { pngChunk } from '../../scripts/support/png.js';
import type { Random } from '../support/random.js';
import { createSender, type RequestOptions, type TestResponse } from '../support/requests.js';
import type { CompletedRequest, Fact } from './facts.js';
import { now } from './trace.js';

export const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('base64url');

/** Returns a function that sends requests and throws if a response violates the contract. */
export const createThrowingSender = (url: string) =>
  createSender(
    {
      fail: (...why) => {
        throw new Error(JSON.stringify(why));
      },
    },
    url,
  );

/** Returns a PNG of about this size. Its pixel data is random, so that no two files contain the same sector. */
export function noiseImage(random: Random, bytes: number): Buffer {
  const noise = Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
  return png(pngChunk('IDAT', noise));
}

/** Returns a text of Chinese characters, three bytes each, that hardly compresses. */
export const longText = (random: Random, length: number): string =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + random.below(4096))).join('');

interface Post {
  id: number;
  title: string;
  text: string;
  image: Buffer | null;
}

/** A sequential client of one user. It records the facts that each response promises. */
export class Client {
  readonly posts: Post[] = [];
  readonly liked = new Set<number>();
  password = 'Quiet-Harbour-27!';
  token = '';
  /** The tokens of additional sessions. */
  readonly otherTokens: string[] = [];
  id = 0;
  profile = { name: 'A name', private: false, picture: null as string | null };
  friendship: 'none' | 'requested' | 'friends' = 'none';
  readonly email: string;
  #count = 0;

  constructor(
    readonly username: string,
    readonly random: Random,
    readonly completed: CompletedRequest[],
    /** Returns the URL of the service, which changes when the service is restarted. */
    readonly urlOfService: () => string,
  ) {
    this.email = `${username}@people.example`;
  }

  /** Sends a request and records the facts that its response promises. Throws unless the status is in `statuses`. */
  async send(
    method: string,
    path: string,
    options: RequestOptions,
    factsOf: (response: TestResponse) => Fact[],
    statuses: number[] = [200, 201],
  ): Promise<TestResponse> {
    const start = now();
    const response = await createThrowingSender(this.urlOfService())(method, path, { token: this.token, ...options });
    const end = now();
    if (!statuses.includes(response.status)) {
      throw new Error(`${method} ${path} returned ${response.status}: ${JSON.stringify(response.body)}`);
    }
    this.completed.push({ request: `${method} ${path}`, start, end, facts: factsOf(response) });
    return response;
  }

  async register(): Promise<void> {
    const { username, email, password } = this;
    const json = { name: this.profile.name, username, email, password };
    const { body } = await this.send('POST', '/auth/register', { json }, () => [
      this.#accountFact(),
      this.#profileFact(),
    ]);
    this.id = body.id;
    this.token = await this.login();
  }

  async login(): Promise<string> {
    const json = { email: this.email, password: this.password };
    const { body } = await this.send('POST', '/auth/login', { json }, ({ body }) => [sessionFact(body.token, true)]);
    return body.token;
  }

  #accountFact = (): Fact => ({ kind: 'account', email: this.email, value: { password: this.password } });
  #profileFact = (): Fact => ({ kind: 'profile', email: this.email, value: { ...this.profile } });

  #postFact = ({ id, title, text, image }: Post): Fact => ({
    kind: 'post',
    id,
    author: this.email,
    value: { title, text: digest(text), image: image && digest(image) },
  });

  #createImage(): Buffer {
    return noiseImage(this.random, this.random.pick([100, 3_000, 20_000, 70_000]));
  }

  async createPost(): Promise<void> {
    this.#count += 1;
    const text = longText(this.random, this.random.pick([3, 100, 3_000]));
    const title = `${this.username} ${this.#count}`;
    const image = this.random.chance(0.5) ? this.#createImage() : null;
    const key = image ? undefined : `key-${this.#count}`;
    const form = { title, text, ...(image && { image: blob(image) }) };
    const options: RequestOptions = { form, ...(key && { headers: { 'Idempotency-Key': key } }) };
    await this.send('POST', '/posts/create', options, ({ body: { id } }) => {
      const post = { id, title, text, image };
      this.posts.push(post);
      const { email } = this;
      return [
        this.#postFact(post),
        ...(key ? [{ kind: 'idempotency key' as const, email, key, title, text, value: id }] : []),
      ];
    });
  }

  async editPost(post: Post, text = longText(this.random, 50)): Promise<void> {
    const choice = this.random.below(3);
    const newImage = choice === 0 ? this.#createImage() : undefined;
    const removesImage = choice === 1 && post.image !== null;
    const image = newImage ?? (removesImage ? null : post.image);
    const form = {
      text,
      ...(newImage && { image: blob(newImage) }),
      ...(removesImage && { remove_image: 'true' }),
    };
    await this.send('PUT', `/posts/edit?id=${post.id}`, { form }, () => {
      Object.assign(post, { text, image });
      return [this.#postFact(post)];
    });
  }

  async deletePost(post: Post): Promise<void> {
    this.posts.splice(this.posts.indexOf(post), 1);
    await this.send('DELETE', `/posts/delete?id=${post.id}`, {}, () => [
      { kind: 'post', id: post.id, author: this.email, value: null },
    ]);
  }

  /** Likes or unlikes a post of another client. A deleted post returns 404 and has no likes. */
  async toggleLike(author: Client): Promise<void> {
    if (author.posts.length === 0) return;
    const { id } = this.random.pick(author.posts);
    const isLike = !this.liked.has(id);
    await this.send(
      isLike ? 'POST' : 'DELETE',
      `/posts/like?id=${id}`,
      {},
      ({ status }) => {
        if (status === 404) return [];
        if (isLike) this.liked.add(id);
        else this.liked.delete(id);
        return [{ kind: 'like', id, author: author.email, email: this.email, value: isLike }];
      },
      [200, 404],
    );
  }

  /** Advances the friendship: none, requested, friends, none. */
  async advanceFriendship(other: Client): Promise<void> {
    const steps = {
      none: { by: this, path: `/friends/request?to=${other.id}`, method: 'POST', value: 'requested' },
      requested: { by: other, path: `/friends/accept?from=${this.id}`, method: 'POST', value: 'friends' },
      friends: { by: this, path: `/friends/remove?id=${other.id}`, method: 'DELETE', value: 'none' },
    } as const;
    const { by, path, method, value } = steps[this.friendship];
    await this.send(method, path, { token: by.token }, () => {
      this.friendship = value;
      return [{ kind: 'friendship', from: this.email, to: other.email, value }];
    });
  }

  async changeProfile(): Promise<void> {
    const picture = this.random.chance(0.6) ? this.#createImage() : undefined;
    const profile = { ...this.profile, name: longText(this.random, 10) };
    if (picture) profile.picture = digest(picture);
    const form = { name: profile.name, ...(picture && { image: blob(picture) }) };
    await this.send('PUT', '/profiles/me', { form }, () => {
      this.profile = profile;
      return [this.#profileFact()];
    });
  }

  /** Changes the password, which ends all sessions, and logs in again. */
  async changePassword(): Promise<void> {
    const digits = [1, 3, 5, 9];
    const password = `Quiet-Harbour-${this.random.pick(digits)}7${this.random.pick(digits)}2!`;
    const form = { current_password: this.password, password };
    const ended = [this.token, ...this.otherTokens.splice(0)];
    await this.send('PUT', '/profiles/me', { form }, () => {
      this.password = password;
      return [this.#accountFact(), ...ended.map((token) => sessionFact(token, false))];
    });
    this.token = await this.login();
  }

  /** Logs in, which starts an additional session. */
  async addDevice(): Promise<void> {
    this.otherTokens.push(await this.login());
  }

  /** Ends the newest additional session. */
  async logOut(): Promise<void> {
    const token = this.otherTokens.pop();
    if (token) await this.send('POST', '/auth/logout', { token }, () => [sessionFact(token, false)]);
  }

  async deleteAccount(): Promise<void> {
    const { password, email } = this;
    await this.send('DELETE', '/profiles/me', { json: { password } }, () => [
      { kind: 'account', email, value: null },
      { kind: 'profile', email, value: null },
      ...[this.token, ...this.otherTokens].map((token) => sessionFact(token, false)),
      ...this.posts.map(({ id }): Fact => ({ kind: 'post', id, author: email, value: null })),
    ]);
  }

  /** Sends a random request. */
  async step(others: readonly Client[], friend: Client): Promise<void> {
    const { random, posts } = this;
    const choice = random.below(20);
    if (posts.length === 0 || choice < 6) await this.createPost();
    else if (choice < 9) await this.editPost(random.pick(posts));
    else if (choice < 10) await this.deletePost(random.pick(posts));
    else if (choice < 13) await this.toggleLike(random.pick(others));
    else if (choice < 15) await this.advanceFriendship(friend);
    else if (choice < 17) await this.changeProfile();
    else if (choice < 18) await this.addDevice();
    else if (choice < 19) await this.logOut();
    else await this.changePassword();
  }
}

const sessionFact = (token: string, value: boolean): Fact => ({ kind: 'session', token, value });
export const blob = (bytes: Buffer) => new Blob([Uint8Array.from(bytes)], { type: 'image/png' });
