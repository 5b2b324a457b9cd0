import type { OperationId } from '../../generated/types.js';
import { getImage } from './accounts.js';
import { change } from './cell.js';
import { Sight } from './sight.js';
import type { Operation, Turn } from './turn.js';
import { type Content, imageOf, type Post } from './world.js';

async function listPosts(turn: Turn): Promise<void> {
  const limit = turn.one([1, 5, 20, 100]) ?? 20;
  const offset = turn.one([0, 0, 0, 3, 40]) ?? 0;
  const reply = await turn.ask('GET', `/posts?limit=${limit}&offset=${offset}`, { needs: ['graph'] });
  turn.expect(reply, 200);
  if (!reply.answer) return;
  const sight = new Sight(turn.world, turn.me, reply.since);
  // Behind an offset nobody knows where the page begins.
  if (offset > 0) for (const post of reply.answer.body) sight.post(post);
  else sight.posts(reply.answer.body, !reply.answer.headers.has('link'), () => true);
}

async function listOwnPosts(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const reply = await turn.ask('GET', `/posts/me?limit=${turn.one([5, 100])}`, { needs: ['graph'] });
  turn.expect(reply, 200);
  if (!reply.answer) return;
  const ends = !reply.answer.headers.has('link');
  new Sight(world, me, reply.since).posts(reply.answer.body, ends, ({ author }) => author === me);
}

/** Any post that was ever written, of late most of all. */
const somePost = (turn: Turn): Post | undefined =>
  turn.one(turn.world.posts.filter(({ id }) => id !== undefined).slice(-30));

async function getPost(turn: Turn): Promise<void> {
  const post = somePost(turn);
  const reply = await turn.ask('GET', `/posts/${post?.id ?? Number.MAX_SAFE_INTEGER}`, { needs: ['graph'] });
  if (!post) return turn.expect(reply, 404);
  turn.expect(reply, ...seen(turn, post, reply.since));
  if (reply.status === 200) new Sight(turn.world, turn.me, reply.since).post(reply.answer?.body);
}

/** 200 where the post may have been visible since then, 404 where it may not. */
export function seen({ world, me }: Pick<Turn, 'world' | 'me'>, { author, content }: Post, since: number): number[] {
  const contents = content.since(since);
  const visible = contents.some(
    ({ value, from }) => value !== null && world.sight(me, author, Math.max(from, since)).possible,
  );
  const certain = contents.every(({ value }) => value !== null) && world.sight(me, author, since).certain;
  return [...(visible ? [200] : []), ...(certain ? [] : [404])];
}

async function createPost(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const title = `Title ${world.word()}`;
  const content: Content = { title, text: `Text of ${title}`, image: turn.pick(2) ? `image ${title}` : null };
  const form = { title, text: content.text, ...(content.image && { image: blob(content.image) }) };
  const post = world.addPost(me);
  const answer = await turn.write(
    [change<Content | null>(post.content, () => content)],
    () => turn.ask('POST', '/posts/create', { form, needs: content.image ? ['images'] : [] }),
    { done: 201, refused: [] },
  );
  if (!answer) return;
  post.id = answer.body.id;
  post.createdAt = answer.body.created_at;
  world.learn(answer.body.image, content.image);
}

const blob = (tag: string) => new Blob([imageOf(tag)], { type: 'image/png' });

/** A post to change: one's own, for the most part. */
function target(turn: Turn): Post | undefined {
  const { world, me } = turn;
  const own = turn.pick(8) > 0;
  return turn.one(world.posts.filter(({ id, author }) => id !== undefined && own === (author === me)).slice(-15));
}

async function editPost(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const post = target(turn);
  if (!post) return;
  const word = `Edit ${world.word()}`;
  const tag = `image ${word}`;
  const [changed, form] = turn.one<[Partial<Content>, Record<string, string | Blob>]>([
    [{ title: word }, { title: word }],
    [{ text: word }, { text: word, remove_image: 'false' }],
    [{ image: tag }, { image: blob(tag) }],
    [
      { title: word, image: tag },
      { title: word, image: blob(tag) },
    ],
    [{ image: null }, { remove_image: 'true' }],
    [{}, { image: blob(tag), remove_image: 'true' }],
  ]) ?? [{}, {}];
  const needs = 'image' in form ? (['graph', 'images'] as const) : (['graph'] as const);
  const ask = () => turn.ask('PUT', `/posts/edit?id=${post.id}`, { form, needs });
  const valid = Object.keys(changed).length > 0;
  const { known } = post.content;
  if (!valid || post.author !== me || known === null) {
    turn.expect(await ask(), valid ? 404 : 400);
    return;
  }
  if (!known || !post.content.settled) return;
  const next: Content = { ...known, ...changed };
  const answer = await turn.write([change<Content | null>(post.content, () => next)], ask, { done: 200, refused: [] });
  if (answer) world.learn(answer.body.image, next.image);
}

async function deletePost(turn: Turn): Promise<void> {
  const { me } = turn;
  const post = target(turn);
  if (!post) return;
  const ask = () => turn.ask('DELETE', `/posts/delete?id=${post.id}`);
  if (post.author !== me || post.content.known === null) {
    turn.expect(await ask(), 404);
    return;
  }
  if (!post.content.settled) return;
  await turn.write([change<Content | null>(post.content, () => null)], ask, { done: 200, refused: [] });
}

const setLike =
  (method: string, liked: boolean): Operation =>
  async (turn) => {
    const { me, world, stage } = turn;
    const post = somePost(turn);
    if (!post) return;
    const like = world.like(me, post);
    if (!like.settled || Date.now() < like.openUntil) return;
    await turn.write(
      [change(like, () => liked)],
      async () => {
        const reply = await turn.ask(method, `/posts/like?id=${post.id}`, { needs: ['graph'] });
        turn.expect(reply, ...seen(turn, post, reply.since));
        return reply;
      },
      { done: 200, refused: [404] },
      stage.maxCommitDelayMs,
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
} satisfies Partial<Record<OperationId, Operation>>;
