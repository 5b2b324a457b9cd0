import type { TestResponse } from '../support/http.js';
import {
  type Content,
  certainlyExists,
  imageOf,
  type Model,
  type ModelPost,
  type Profile,
  type User,
} from './model.js';
import { ModelMismatchError } from './state.js';

// biome-ignore lint/suspicious/noExplicitAny: every body was validated against the contract.
type Body = any;

const fail = (reason: string, body: unknown): never => {
  throw new ModelMismatchError(`${reason}: ${JSON.stringify(body)}`);
};

/** Checks that the contents of a response, requested at `since`, are possible for this viewer. */
export class ViewChecker {
  constructor(
    readonly model: Model,
    readonly viewer: User,
    readonly since: number,
  ) {}

  #atLeastSince = (time: number) => Math.max(time, this.since);

  /** Checks a post of a response. Returns undefined if another test run created it. */
  checkPost(body: Body): ModelPost | undefined {
    const { model, viewer, since } = this;
    const author = model.findUser(body.author_id);
    const post = this.#postOf(body, author);
    if (!post) return undefined;
    const shown = post.content
      .spansSince(since)
      .filter(({ value }) => value !== null && showsContent(model, value, body));
    if (shown.length === 0)
      fail(`${viewer.label} sees a post with impossible content`, { body, possible: post.content.spansSince(since) });
    const seen = shown.filter(({ from }) => model.visibility(viewer, post.author, this.#atLeastSince(from)).possible);
    if (seen.length === 0) fail(`${viewer.label} sees a hidden post`, body);
    if (shown.length === 1) model.learnLink(body.image, shown[0]?.value?.image ?? null);
    const { min, max } = model.likeCount(post, since);
    if (body.like_count < min || body.like_count > max) fail(`like_count should be from ${min} to ${max}`, body);
    const mine = model.like(viewer, post).valuesSince(since);
    if (!certainlyExists(post.content, since)) mine.push(false);
    if (!mine.includes(body.liked_by_me)) fail(`liked_by_me is wrong for ${viewer.label}`, body);
    return post;
  }

  /** Finds a post by its id or, if the response to its creation was lost, by its unique title. */
  #postOf(body: Body, author: User | undefined): ModelPost | undefined {
    const { posts } = this.model;
    const known = posts.find(({ id }) => id === body.id);
    if (!author && !known) return undefined;
    const matchesByTitle = (post: ModelPost) =>
      post.id === undefined && post.content.spansSince(this.since).some(({ value }) => value?.title === body.title);
    const post = known ?? posts.find(matchesByTitle) ?? fail('this post was never created', body);
    if (post.author !== author) fail('the author is wrong', body);
    post.id = body.id;
    post.createdAt ??= body.created_at;
    if (post.createdAt !== body.created_at) fail(`created_at should be ${post.createdAt}`, body);
    return post;
  }

  /**
   * Checks the beginning of a list, one page or several: order, contents and completeness.
   *
   * @param isLastPage whether the list has no further pages
   * @param isListed whether a post belongs to the list
   */
  checkPosts(bodies: readonly Body[], isLastPage: boolean, isListed: (post: ModelPost) => boolean): void {
    for (const [index, body] of bodies.entries()) {
      const before = bodies[index - 1];
      if (before && !isNewer(before, body)) fail('the posts are not sorted from newest to oldest', [before, body]);
    }
    const shown = bodies.map((body) => this.checkPost(body));
    for (const post of shown) if (post && !isListed(post)) fail('this post does not belong to the list', post.id);
    const last = bodies.at(-1);
    for (const post of this.model.posts) {
      const isInRange =
        isLastPage || (last && post.createdAt && isNewer({ created_at: post.createdAt, id: post.id }, last));
      const mustBeShown = isInRange && isListed(post) && this.model.isCertainlyVisible(this.viewer, post, this.since);
      if (mustBeShown && !shown.includes(post)) {
        fail(
          `${this.viewer.label} should see post ${post.id}`,
          bodies.map(({ id }) => id),
        );
      }
    }
  }

  /** Checks a full or a brief profile. */
  checkProfile(body: Body, owner: User): void {
    const { model, viewer } = this;
    const spans = owner.profile
      .spansSince(this.since)
      .filter(({ value }) => value !== null && showsProfile(model, value, body));
    if (spans.length === 0)
      fail('a profile has impossible content', { body, possible: owner.profile.spansSince(this.since) });
    const full = 'private' in body;
    const possible = spans.filter(({ value, from }) => {
      if (owner === viewer || !value?.private) return full;
      return full
        ? model.friendship(viewer, owner, this.#atLeastSince(from)).possible
        : !model.friendship(viewer, owner, this.#atLeastSince(from)).certain;
    });
    if (possible.length === 0) fail(`${viewer.label} sees the wrong form of the profile of ${owner.label}`, body);
    if (full && spans.length === 1) model.learnLink(body.profile_link, spans[0]?.value?.image ?? null);
  }

  /** Checks that a list contains all users whose membership is certain, and only possible ones. Returns the users. */
  checkUsers(bodies: readonly Body[], membership: (user: User) => { possible: boolean; certain: boolean }): User[] {
    const listed = bodies.map(({ id }) => this.model.findUser(id) ?? fail('unknown user', id));
    if (new Set(listed).size < listed.length) fail('a user is listed twice', bodies);
    for (const user of this.model.users) {
      const { possible, certain } = membership(user);
      const exists = user.profile.spansSince(this.since).map(({ value }) => value !== null);
      const shown = listed.includes(user);
      if (shown && !(possible && exists.includes(true)))
        fail(`${this.viewer.label} should not see ${user.label}`, bodies);
      if (!shown && certain && !exists.includes(false)) fail(`${this.viewer.label} should see ${user.label}`, bodies);
    }
    return listed;
  }

  /** Checks the response to an image download: its bytes, and whether the viewer may see them. */
  checkImage({ status, body, bytes }: TestResponse, link: string): void {
    const { model, viewer } = this;
    const tag = model.tags.get(link) ?? fail('unknown link', link);
    const holders = [
      ...model.posts.map(({ author, content }) => ({ author, spans: content.spansSince(this.since) })),
      ...model.users.map((author) => ({ author, spans: author.profile.spansSince(this.since) })),
    ].filter(({ spans }) => spans.some(({ value }) => value?.image === tag));
    if (status === 200) {
      if (!bytes.equals(imageOf(tag))) fail(`${link} has other bytes`, bytes.length);
      const seen = holders.some(({ author, spans }) =>
        spans.some(
          ({ value, from }) =>
            value?.image === tag && model.visibility(viewer, author, this.#atLeastSince(from)).possible,
        ),
      );
      if (!seen) fail(`${viewer.label} sees a hidden image`, link);
    } else {
      if (status !== 404) fail(`an image responds with ${status}`, body);
      const certain = holders.some(
        ({ author, spans }) =>
          spans.every(({ value }) => value?.image === tag) && model.visibility(viewer, author, this.since).certain,
      );
      if (certain) fail(`${viewer.label} should see an image`, link);
    }
  }
}

/** Returns whether a post in a response has this content. */
export const showsContent = (model: Model, content: Content, body: Body) =>
  content.title === body.title && content.text === body.text && model.linkMatches(body.image, content.image);

/** Returns whether a profile in a response, full or brief, is this one. */
export const showsProfile = (model: Model, profile: Profile, body: Body) =>
  !('private' in body) || (profile.private === body.private && model.linkMatches(body.profile_link, profile.image));

const isNewer = (one: Body, other: Body) =>
  one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at;
