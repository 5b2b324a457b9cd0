import { createPost, getPost, listPosts, login } from './client/client.js';

/** Contains mistakes that the types must reject. It is only compiled: the compiler reports a mistake that it accepts. */
export async function makeMistakes(): Promise<void> {
  // @ts-expect-error: an unknown field
  await login({ email: 'mira@example.org', password: 'Teal-Lantern_58', username: 'mira' });
  // @ts-expect-error: a required field that is missing
  await createPost({ title: 'First swim of the year' });
  // @ts-expect-error: a string instead of a number
  await listPosts({ limit: '20' });

  const received = await getPost(7);
  // @ts-expect-error: an undeclared status
  if (received.status === 409) return;
  // @ts-expect-error: the response may be an error until its status is checked
  received.data.title;
  // @ts-expect-error: an error has no title
  if (received.status === 404) received.data.title;
  // @ts-expect-error: a post has no such field
  if (received.status === 200) received.data.body;
}
