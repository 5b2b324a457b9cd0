import { randomBytes } from 'node:crypto';
import { samples } from '../../scripts/contract-test/images.js';
import { Cell, Disagreement } from './cell.js';

/** What the contract says that there is, as far as can be known from the answers to one cast of people. */

export interface Profile {
  name: string;
  username: string;
  email: string;
  password: string;
  private: boolean;
  /** The tag of its bytes. */
  picture: string | null;
}

export interface Session {
  /** Undefined when the answer to the login was lost. */
  token: string | undefined;
  device: string;
  alive: Cell<boolean>;
}

export interface Person {
  label: string;
  /** Undefined until some answer has told it. */
  id: number | undefined;
  /** Null when there is no account. */
  profile: Cell<Profile | null>;
  sessions: Session[];
}

export interface Content {
  title: string;
  text: string;
  /** The tag of its bytes. */
  image: string | null;
}

export interface Post {
  author: Person;
  id: number | undefined;
  createdAt: string | undefined;
  /** Null when there is no such post. */
  content: Cell<Content | null>;
  likes: Map<Person, Cell<boolean>>;
}

/** Between two people; whose request it is by label. */
export type Tie = 'none' | 'friends' | `asked by ${string}`;

export class World {
  readonly people: Person[] = [];
  readonly posts: Post[] = [];
  readonly #ties = new Map<string, Cell<Tie>>();
  /** Which bytes stand behind a link, once an answer has told. */
  readonly tags = new Map<string, string>();
  #made = 0;

  constructor(readonly name: string) {}

  /** Never the same word twice. */
  word(): string {
    this.#made += 1;
    return `${this.name}${this.#made}`;
  }

  addPerson(profile: Profile | null): Person {
    const person = { label: this.word(), id: undefined, profile: new Cell(profile), sessions: [] };
    this.people.push(person);
    return person;
  }

  addPost(author: Person): Post {
    const content = new Cell<Content | null>(null);
    const post = { author, id: undefined, createdAt: undefined, content, likes: new Map() };
    this.posts.push(post);
    return post;
  }

  tie(one: Person, other: Person): Cell<Tie> {
    const key = [one.label, other.label].sort().join();
    return entry(this.#ties, key, () => new Cell<Tie>('none'));
  }

  like(person: Person, post: Post): Cell<boolean> {
    return entry(post.likes, person, () => new Cell(false));
  }

  personBy(id: number): Person | undefined {
    return this.people.find((person) => person.id === id);
  }

  /** What people may be to each other's eyes at some time since: friends, or not. */
  friendship(one: Person, other: Person, time: number): { possible: boolean; certain: boolean } {
    const ties = this.tie(one, other).since(time);
    return {
      possible: ties.some(({ value }) => value === 'friends'),
      certain: ties.every(({ value }) => value === 'friends'),
    };
  }

  /** Whether the viewer may see what is this owner's, at some time since. */
  sight(viewer: Person, owner: Person, time: number): { possible: boolean; certain: boolean } {
    const profiles = owner.profile.since(time).map(({ value }) => value);
    const { possible, certain } = this.friendship(viewer, owner, time);
    const open = (profile: Profile | null, friends: boolean) =>
      profile !== null && (viewer === owner || !profile.private || friends);
    return {
      possible: profiles.some((profile) => open(profile, possible)),
      certain: profiles.every((profile) => open(profile, certain)),
    };
  }

  /** Holds a link against what should be behind it, and remembers what nobody knew of it. */
  fits(link: string | null, tag: string | null): boolean {
    if (link === null || tag === null) return link === tag;
    const known = this.tags.get(link);
    return known === undefined ? !this.linkOf(tag) : known === tag;
  }

  learn(link: string | null, tag: string | null): void {
    if (link === null || tag === null) return;
    if (!this.fits(link, tag)) throw new Disagreement(`${link} is not where the image ${tag} was`);
    this.tags.set(link, tag);
  }

  linkOf(tag: string): string | undefined {
    for (const [link, known] of this.tags) if (known === tag) return link;
    return undefined;
  }

  /** How many like the post: at least, and at most. The likes of the dead go a little later than they do. */
  likeCount(post: Post, time: number): { least: number; most: number } {
    let [least, most] = [0, 0];
    for (const [person, like] of post.likes) {
      const likes = like.since(time).map(({ value }) => value);
      const alive = person.profile.since(time).every(({ value }) => value !== null);
      if (likes.includes(true)) most += 1;
      if (alive && !likes.includes(false)) least += 1;
    }
    return { least, most };
  }
}

/** Bytes that no other image has: its signature makes it a PNG, whatever follows. */
export function imageOf(tag: string): Buffer {
  return Buffer.concat([samples.png.subarray(0, 8), Buffer.from(tag.padEnd(64 + (tag.length % 7) * 9000, '.'))]);
}

/** So that what was left by other runs is never taken for one's own. */
export const freshName = (): string => `w${randomBytes(4).toString('hex')}x`;

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}
