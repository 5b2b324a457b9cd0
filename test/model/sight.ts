import type { TestResponse } from '../support/requests.js';
import { Disagreement } from './cell.js';
import { type Content, imageOf, type Person, type Post, type Profile, type World } from './world.js';

// biome-ignore lint/suspicious/noExplicitAny: every body has been held against the contract.
type Body = any;

const fail = (why: string, body: unknown): never => {
  throw new Disagreement(`${why}: ${JSON.stringify(body)}`);
};

/** What one viewer was shown, by an answer that was asked for at `since`. All of it has to be possible. */
export class Sight {
  constructor(
    readonly world: World,
    readonly viewer: Person,
    readonly since: number,
  ) {}

  /** Later than the moment from which on something was so, and than the question. */
  #from = (time: number) => Math.max(time, this.since);

  /** A post that the viewer was shown. Undefined when it is of another cast. */
  post(body: Body): Post | undefined {
    const { world, viewer, since } = this;
    const author = world.personBy(body.author_id);
    const post = this.#postOf(body, author);
    if (!post) return undefined;
    const shown = post.content.since(since).filter(({ value }) => value !== null && same(world, value, body));
    if (shown.length === 0) fail(`${viewer.label} sees a post as it is not`, { body, may: post.content.since(since) });
    const seen = shown.filter(({ from }) => world.sight(viewer, post.author, this.#from(from)).possible);
    if (seen.length === 0) fail(`${viewer.label} sees a hidden post`, body);
    if (shown.length === 1) world.learn(body.image, shown[0]?.value?.image ?? null);
    const names = post.author.profile.since(since).map(({ value }) => value?.username);
    if (!names.includes(body.author_username)) fail('the author has another name', body);
    const { least, most } = world.likeCount(post, since);
    if (body.like_count < least || body.like_count > most) fail(`${least} to ${most} people like this`, body);
    const mine = world
      .like(viewer, post)
      .since(since)
      .map(({ value }) => value);
    if (!mine.includes(body.liked_by_me)) fail(`${viewer.label} likes this otherwise`, body);
    return post;
  }

  /** By its id or, when its creation was never answered, by the title that no other has. */
  #postOf(body: Body, author: Person | undefined): Post | undefined {
    const { posts } = this.world;
    const known = posts.find(({ id }) => id === body.id);
    if (!author && !known) return undefined;
    const fresh = (post: Post) =>
      post.id === undefined && post.content.since(this.since).some(({ value }) => value?.title === body.title);
    const post = known ?? posts.find(fresh) ?? fail('nobody has written this', body);
    if (post.author !== author) fail('the author is another', body);
    post.id = body.id;
    post.createdAt ??= body.created_at;
    if (post.createdAt !== body.created_at) fail(`this was created at ${post.createdAt}`, body);
    return post;
  }

  /**
   * A list of posts from its beginning to some end, by authors of whom `isListed` speaks.
   *
   * @param ends whether nothing comes after it
   */
  posts(bodies: readonly Body[], ends: boolean, isListed: (post: Post) => boolean): void {
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1];
      if (before && !isNewer(before, body)) fail('the order is not by age', [before, body]);
    }
    const shown = bodies.map((body) => this.post(body));
    for (const post of shown) if (post && !isListed(post)) fail('this does not belong here', post.id);
    const last = bodies.at(-1);
    for (const post of this.world.posts) {
      const due = ends || (last && post.createdAt && isNewer({ created_at: post.createdAt, id: post.id }, last));
      if (due && isListed(post) && !shown.includes(post) && this.#isCertain(post)) {
        fail(
          `${this.viewer.label} should see post ${post.id}`,
          bodies.map(({ id }) => id),
        );
      }
    }
  }

  #isCertain(post: Post): boolean {
    const there = post.content.since(this.since).every(({ value }) => value !== null);
    return there && this.world.sight(this.viewer, post.author, this.since).certain;
  }

  /** Somebody's profile, whole or in brief. */
  profile(body: Body, owner: Person): void {
    const { world, viewer } = this;
    const spans = owner.profile.since(this.since).filter(({ value }) => value !== null && isOf(world, value, body));
    if (spans.length === 0) fail('a profile is not so', { body, may: owner.profile.since(this.since) });
    const whole = 'private' in body;
    const possible = spans.filter(({ value, from }) => {
      if (owner === viewer || !value?.private) return whole;
      return whole
        ? world.friendship(viewer, owner, this.#from(from)).possible
        : !world.friendship(viewer, owner, this.#from(from)).certain;
    });
    if (possible.length === 0) fail(`${viewer.label} sees too much or too little of ${owner.label}`, body);
    if (whole && spans.length === 1) world.learn(body.profile_link, spans[0]?.value?.picture ?? null);
  }

  /** The people in a list, which holds all of `certain` and none but those of `possible`. */
  people(bodies: readonly Body[], isIn: (person: Person) => { possible: boolean; certain: boolean }): Person[] {
    const listed = bodies.map(({ id }) => this.world.personBy(id) ?? fail('nobody is this', id));
    if (new Set(listed).size < listed.length) fail('somebody is there twice', bodies);
    for (const person of this.world.people) {
      const { possible, certain } = isIn(person);
      const there = person.profile.since(this.since).map(({ value }) => value !== null);
      const shown = listed.includes(person);
      if (shown && !(possible && there.includes(true)))
        fail(`${this.viewer.label} should not see ${person.label}`, bodies);
      if (!shown && certain && !there.includes(false)) fail(`${this.viewer.label} should see ${person.label}`, bodies);
    }
    return listed;
  }

  /** The bytes behind a link: these and no others, and only for whom they are. */
  image({ status, body, bytes }: TestResponse, link: string): void {
    const { world, viewer } = this;
    const tag = world.tags.get(link) ?? fail('nobody knows of this', link);
    const holders = [
      ...world.posts.map(({ author, content }) => ({ author, spans: imagesIn(content.since(this.since), 'image') })),
      ...world.people.map((author) => ({ author, spans: imagesIn(author.profile.since(this.since), 'picture') })),
    ].filter(({ spans }) => spans.some((span) => span.tag === tag));
    if (status === 200) {
      if (!bytes.equals(imageOf(tag))) fail(`${link} has other bytes`, bytes.length);
      const seen = holders.some(({ author, spans }) =>
        spans.some((span) => span.tag === tag && world.sight(viewer, author, this.#from(span.from)).possible),
      );
      if (!seen) fail(`${viewer.label} sees a hidden image`, link);
    } else {
      if (status !== 404) fail(`an image is answered by ${status}`, body);
      const certain = holders.some(
        ({ author, spans }) =>
          spans.every((span) => span.tag === tag) && world.sight(viewer, author, this.since).certain,
      );
      if (certain) fail(`${viewer.label} should see an image`, link);
    }
  }
}

const imagesIn = <Key extends string>(spans: { value: Record<Key, string | null> | null; from: number }[], key: Key) =>
  spans.map(({ value, from }) => ({ tag: value?.[key] ?? null, from }));

const same = (world: World, content: Content, body: Body) =>
  content.title === body.title && content.text === body.text && world.fits(body.image, content.image);

const isOf = (world: World, profile: Profile, body: Body) =>
  profile.name === body.name &&
  profile.username === body.username &&
  (!('private' in body) || (profile.private === body.private && world.fits(body.profile_link, profile.picture)));

const isNewer = (one: Body, other: Body) =>
  one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at;
