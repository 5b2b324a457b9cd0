import createClient from 'openapi-fetch';
import type { paths } from './types.js';

export async function publish(baseUrl: string, image: Blob) {
  const api = createClient<paths>({ baseUrl });
  const ada = { email: 'ada@example.org', password: 'Quiet-Harbor-27' };
  const registration = await api.POST('/auth/register', { body: { ...ada, name: 'Ada', username: 'ada' } });
  if (registration.error?.code === 'username_taken') console.log('Ada is back.');

  const { data: session, error } = await api.POST('/auth/login', { body: ada });
  if (error) throw new Error(error.message);
  return api.POST('/posts/create', {
    headers: { Authorization: `Bearer ${session.token}` },
    body: { title: 'Good morning', text: 'Is anybody here?', image },
    bodySerializer: toForm,
  });
}

/** Without a serializer, openapi-fetch sends JSON. */
export function toForm(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
