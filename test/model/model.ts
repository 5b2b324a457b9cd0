import { randomBytes } from 'node:crypto';
import { samples } from '../../scripts/contract-test/client/index.js';
import { ModelMismatchError, State } from './state.js';

export interface Profile {
  password: string;
  private: boolean;
  /** The tag of its bytes, see `imageOf`. */
  image: string | null;
}

export interface Session {
  /** Undefined if the response to the login was lost. */
  token: string | undefined;
  device: string;
  alive: State<boolean>;
}

export interface User {
  /** Also the username. */
  label: string;
  /** Undefined until a response contains it. */
  id: number | undefined;
  /** Null if the account does not exist. */
  profile: State<Profile | null>;
  sessions: Session[];
}

export interface Content {
  title: string;
  text: string;
  /** The tag of its bytes, see `imageOf`. */
  image: string | null;
}

export interface ModelPost {
  author: User;
  id: number | undefined;
  createdAt: string | undefined;
  /** Null if the post does not exist. */
  content: State<Content | null>;
  likes: Map<User, State<boolean>>;
}

/** The relation of two users; a request has the label of its sender. */
export type UserRelation = 'none' | 'friends' | `requested by ${string}`;

/** The state that follows from the contract and from the responses to one group of users. */
export class Model {
  readonly users: User[] = [];
  readonly posts: ModelPost[] = [];
  readonly #relations = new Map<string, State<UserRelation>>();
  /** The tags of images by link, as far as responses have shown them. */
  readonly tags = new Map<string, string>();
  /** The beginning of every word, to distinguish the data of this model from that of others. */
  readonly #prefix = `w${randomBytes(4).toString('hex')}x`;
  #wordCount = 0;

  /** Returns a new word. */
  word(): string {
    this.#wordCount += 1;
    return `${this.#prefix}${this.#wordCount}`;
  }

  addUser(): User {
    const profile = new State<Profile | null>(null);
    const user = { label: this.word(), id: undefined, profile, sessions: [] };
    this.users.push(user);
    return user;
  }

  addPost(author: User): ModelPost {
    const content = new State<Content | null>(null);
    const post = { author, id: undefined, createdAt: undefined, content, likes: new Map() };
    this.posts.push(post);
    return post;
  }

  relation(one: User, other: User): State<UserRelation> {
    const key = [one.label, other.label].sort().join();
    return getOrCreate(this.#relations, key, () => new State<UserRelation>('none'));
  }

  like(user: User, post: ModelPost): State<boolean> {
    return getOrCreate(post.likes, user, () => new State(false));
  }

  findUser(id: number): User | undefined {
    return this.users.find((user) => user.id === id);
  }

  /** Returns whether two users may have been, or certainly were, friends at `time` or later. */
  friendship(one: User, other: User, time: number): { possible: boolean; certain: boolean } {
    const relations = this.relation(one, other).spansSince(time);
    return {
      possible: relations.some(({ value }) => value === 'friends'),
      certain: relations.every(({ value }) => value === 'friends'),
    };
  }

  /** Returns whether the viewer possibly or certainly could see the owner's content at `time` or later. */
  visibility(viewer: User, owner: User, time: number): { possible: boolean; certain: boolean } {
    const profiles = owner.profile.valuesSince(time);
    const { possible, certain } = this.friendship(viewer, owner, time);
    const canSee = (profile: Profile | null, friends: boolean) =>
      profile !== null && (viewer === owner || !profile.private || friends);
    return {
      possible: profiles.some((profile) => canSee(profile, possible)),
      certain: profiles.every((profile) => canSee(profile, certain)),
    };
  }

  /** Returns whether a post certainly existed, and was visible to the viewer, at `time` and later. */
  isCertainlyVisible(viewer: User, { author, content }: ModelPost, time: number): boolean {
    return certainlyExists(content, time) && this.visibility(viewer, author, time).certain;
  }

  /** Returns whether a link may lead to the image with this tag. */
  linkMatches(link: string | null, tag: string | null): boolean {
    if (link === null || tag === null) return link === tag;
    const known = this.tags.get(link);
    return known === undefined ? !this.linkOf(tag) : known === tag;
  }

  /** Records which image a link leads to. Throws if that contradicts earlier responses. */
  learnLink(link: string | null, tag: string | null): void {
    if (link === null || tag === null) return;
    if (!this.linkMatches(link, tag)) throw new ModelMismatchError(`${link} is not the link of image ${tag}`);
    this.tags.set(link, tag);
  }

  linkOf(tag: string): string | undefined {
    for (const [link, known] of this.tags) if (known === tag) return link;
    return undefined;
  }

  /**
   * Returns the bounds of the like count at `time` or later. Likes of deleted accounts are removed with a delay. A list may read
   * a post just before its deletion, and its likes just after.
   */
  likeCount(post: ModelPost, time: number): { min: number; max: number } {
    let [min, max] = [0, 0];
    const exists = certainlyExists(post.content, time);
    for (const [user, like] of post.likes) {
      const likes = like.valuesSince(time);
      if (likes.includes(true)) max += 1;
      if (exists && certainlyExists(user.profile, time) && !likes.includes(false)) min += 1;
    }
    return { min, max };
  }
}

/** Returns whether an account or post certainly existed at `time` and later. */
export const certainlyExists = (state: State<Profile | null> | State<Content | null>, time: number): boolean =>
  !state.valuesSince(time).includes(null);

/** Returns bytes that are unique to this tag, with a PNG signature, the only part that the service checks. */
export function imageOf(tag: string): Buffer {
  return Buffer.concat([samples.png.subarray(0, 8), Buffer.from(tag.padEnd(64 + (tag.length % 7) * 9000, '.'))]);
}

/** Returns a form with these fields that also sets the image with this tag, removes it if the tag is null, or keeps it. */
export function formOf(fields: Record<string, string | boolean>, tag?: string | null): Record<string, string | Blob> {
  const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  if (tag === null) return { ...texts, remove_image: 'true' };
  return tag === undefined ? texts : { ...texts, image: new Blob([imageOf(tag)], { type: 'image/png' }) };
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
