import type { OperationId } from '../../generated/types.js';
import { nextPagePath } from '../support/http.js';
import { getImage } from './accounts.js';
import { MAX_COMMIT_DELAY_MS } from './fixture.js';
import { type Content, formOf, type ModelPost } from './model.js';
import type { ModelOperation, Step } from './step.js';

async function listPosts(step: Step): Promise<void> {
  const limit = step.pickOne([1, 5, 20, 100]) ?? 20;
  const offset = step.pickOne([0, 0, 0, 3, 40]) ?? 0;
  const start = offset > 0 || step.below(2) ? `&offset=${offset}` : '';
  const reply = await step.send('GET', `/posts?limit=${limit}${start}`, { needs: ['graph'] });
  step.expect(reply, 200);
  if (!reply.response) return;
  const { checker } = reply;
  const next = nextPagePath(reply.response.headers);
  // Of later pages, it is not known which posts precede them, so their completeness cannot be checked.
  if (offset > 0) for (const post of reply.response.body) checker.checkPost(post);
  else checker.checkPosts(reply.response.body, next === undefined, () => true);
  if (next === undefined) return;
  const nextReply = await step.send('GET', next, { needs: ['graph'] });
  step.expect(nextReply, 200);
  for (const post of nextReply.response?.body ?? []) nextReply.checker.checkPost(post);
}

async function listOwnPosts(step: Step): Promise<void> {
  const { me } = step;
  const reply = await step.send('GET', `/posts/me?limit=${step.pickOne([5, 100])}`, { needs: ['graph'] });
  step.expect(reply, 200);
  if (!reply.response) return;
  const isLastPage = !reply.response.headers.has('link');
  reply.checker.checkPosts(reply.response.body, isLastPage, ({ author }) => author === me);
}

/** Returns a random one of the last 30 posts with a known id, deleted ones included. */
const pickPost = (step: Step): ModelPost | undefined =>
  step.pickOne(step.model.posts.filter(({ id }) => id !== undefined).slice(-30));

async function getPost(step: Step): Promise<void> {
  const post = pickPost(step);
  const reply = await step.send('GET', `/posts/${post?.id ?? Number.MAX_SAFE_INTEGER}`, { needs: ['graph'] });
  if (!post) return step.expect(reply, 404);
  step.expect(reply, ...expectedPostStatuses(step, post, reply.since));
  if (reply.status === 200) reply.checker.checkPost(reply.response?.body);
}

/**
 * Returns the possible statuses: 200 if the post may have been visible at `since` or later, 404 unless it certainly was visible
 * all the time.
 */
export function expectedPostStatuses(
  { model, me }: Pick<Step, 'model' | 'me'>,
  post: ModelPost,
  since: number,
): number[] {
  const possible = post.content
    .spansSince(since)
    .some(({ value, from }) => value !== null && model.visibility(me, post.author, Math.max(from, since)).possible);
  const certain = model.isCertainlyVisible(me, post, since);
  return [...(possible ? [200] : []), ...(certain ? [] : [404])];
}

async function createPost(step: Step): Promise<void> {
  const { me, model } = step;
  const title = `Title ${model.word()}`;
  const content: Content = { title, text: `Text of ${title}`, image: step.below(2) ? `image ${title}` : null };
  const form = formOf({ title, text: content.text }, content.image ?? undefined);
  const post = model.addPost(me);
  const response = await step.write(
    [post.content.changeTo(content)],
    () => step.send('POST', '/posts/create', { form, needs: content.image ? ['images'] : [] }),
    { done: 201 },
  );
  if (!response) return;
  post.id = response.body.id;
  post.createdAt = response.body.created_at;
  model.learnLink(response.body.image, content.image);
}

/** Returns a random post to change, usually one of the user's own. */
function postToChange(step: Step): ModelPost | undefined {
  const { model, me } = step;
  const own = step.below(8) > 0;
  return step.pickOne(model.posts.filter(({ id, author }) => id !== undefined && own === (author === me)).slice(-15));
}

async function editPost(step: Step): Promise<void> {
  const { me, model } = step;
  const post = postToChange(step);
  if (!post) return;
  const word = `Edit ${model.word()}`;
  const tag = `image ${word}`;
  const possibleChanges: Partial<Content>[] = [
    { title: word },
    { text: word },
    { image: tag },
    { title: word, image: tag },
    { image: null },
    {},
  ];
  const changed = step.pickOne(possibleChanges) ?? {};
  const isValid = Object.keys(changed).length > 0;
  const { image, ...texts } = changed;
  const form = isValid ? formOf(texts, image) : formOf({ remove_image: true }, tag);
  const needs = 'image' in form ? (['graph', 'images'] as const) : (['graph'] as const);
  const send = () => step.send('PUT', `/posts/edit?id=${post.id}`, { form, needs });
  const { known } = post.content;
  if (!isValid || post.author !== me || known === null) {
    step.expect(await send(), isValid ? 404 : 400);
    return;
  }
  if (!known || !post.content.isWritable) return;
  const next: Content = { ...known, ...changed };
  const response = await step.write([post.content.changeTo(next)], send, { done: 200 });
  if (response) model.learnLink(response.body.image, next.image);
}

async function deletePost(step: Step): Promise<void> {
  const { me } = step;
  const post = postToChange(step);
  if (!post) return;
  const send = () => step.send('DELETE', `/posts/delete?id=${post.id}`);
  if (post.author !== me || post.content.known === null) {
    step.expect(await send(), 404);
    return;
  }
  if (!post.content.isWritable) return;
  await step.write([post.content.changeTo(null)], send, { done: 200 });
}

/** Returns an operation that likes or unlikes a post. */
const setLike =
  (method: string, liked: boolean): ModelOperation =>
  async (step) => {
    const { me, model } = step;
    const post = pickPost(step);
    if (!post) return;
    const like = model.like(me, post);
    if (!like.isWritable || Date.now() < like.uncertainUntil) return;
    await step.write(
      [like.changeTo(liked)],
      async () => {
        const reply = await step.send(method, `/posts/like?id=${post.id}`, { needs: ['graph'] });
        step.expect(reply, ...expectedPostStatuses(step, post, reply.since));
        return reply;
      },
      { done: 200, refused: [404] },
      MAX_COMMIT_DELAY_MS,
    );
  };

export const posts = {
  listPosts,
  listOwnPosts,
  getPost,
  getPostImage: getImage('/posts/image/'),
  createPost,
  editPost,
  deletePost,
  likePost: setLike('POST', true),
  unlikePost: setLike('DELETE', false),
} satisfies Partial<Record<OperationId, ModelOperation>>;
