import createClient from 'openapi-fetch';
import type { paths } from './types.js';

/** Never run: what is wrong must not compile, and a line here that does compile is an error. */
export async function mistakes(): Promise<void> {
  const { GET, POST, PUT } = createClient<paths>();
  // @ts-expect-error: a path that does not exist
  await GET('/post');
  // @ts-expect-error: a method that the path does not support
  await PUT('/auth/login', { body: { email: 'mira@example.org', password: 'Teal-Lantern_58' } });
  // @ts-expect-error: a number is no string
  await POST('/auth/login', { body: { email: 'mira@example.org', password: 58 } });
  // @ts-expect-error: a required field that is missing
  await POST('/posts/create', { body: { title: 'First swim of the year' } });
  // @ts-expect-error: a string is no file
  await POST('/posts/create', { body: { title: 'First swim', text: 'Four degrees.', image: 'swim.jpg' } });
  // @ts-expect-error: a string is no number
  await GET('/posts', { params: { query: { limit: '20' } } });

  const { data, error } = await GET('/posts/{id}', { params: { path: { id: 7 } } });
  // @ts-expect-error: there is no post if the response is an error
  data.title;
  // @ts-expect-error: an error has no title
  error?.title;
  // @ts-expect-error: a post has no such field
  data?.body;
}
