import createClient from 'openapi-fetch';
import type { paths } from './types.js';

/** Contains mistakes that the types must reject. It is only compiled: the compiler reports a mistake that it accepts. */
export async function makeMistakes(): Promise<void> {
  const { GET, POST, PUT } = createClient<paths>();
  // @ts-expect-error: a path that does not exist
  await GET('/post');
  // @ts-expect-error: a method that the path does not support
  await PUT('/auth/login', { body: { email: 'mira@example.org', password: 'Teal-Lantern_58' } });
  // @ts-expect-error: a number instead of a string
  await POST('/auth/login', { body: { email: 'mira@example.org', password: 58 } });
  // @ts-expect-error: a required field that is missing
  await POST('/posts/create', { body: { title: 'First swim of the year' } });
  // @ts-expect-error: a string instead of a file
  await POST('/posts/create', { body: { title: 'First swim', text: 'Four degrees.', image: 'swim.jpg' } });
  // @ts-expect-error: a string instead of a number
  await GET('/posts', { params: { query: { limit: '20' } } });

  const { data, error } = await GET('/posts/{id}', { params: { path: { id: 7 } } });
  // @ts-expect-error: the response may be an error, which has no post
  data.title;
  // @ts-expect-error: an error has no title
  error?.title;
  // @ts-expect-error: a post has no such field
  data?.body;
}
