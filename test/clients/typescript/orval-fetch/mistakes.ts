import { createPost, getPost, listPosts, login } from './client/client.js';

/** Never run: what is wrong must not compile, and a line here that does compile is an error. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error: a field that the operation does not take
  await login({ email: 'mira@example.org', password: 'Teal-Lantern_58', username: 'mira' });
  // @ts-expect-error: a required field that is missing
  await createPost({ title: 'First swim of the year' });
  // @ts-expect-error: a number is no text
  await listPosts({ limit: '20' });

  const reply = await getPost(7);
  // @ts-expect-error: a status that is not declared
  if (reply.status === 409) return;
  // @ts-expect-error: before the status is known it may be an error
  reply.data.title;
  // @ts-expect-error: an error has no title
  if (reply.status === 404) reply.data.title;
  // @ts-expect-error: a post has no such field
  if (reply.status === 200) reply.data.body;
}
