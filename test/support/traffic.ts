import { picture } from './picture.js';
import { createPost, type TestService } from './service.js';

/** Sends a few requests that touch every store, the outbox, password hashes and security events. */
export async function sendTraffic(service: TestService): Promise<void> {
  const user = await service.createUser();
  await service.login(user.email);
  const post = await createPost(user, { image: picture() });
  await user.send('GET', post.image ?? '');
  await user.send('POST', `/posts/like?id=${post.id}`);
  await user.send('GET', '/posts');
  await user.send('GET', `/posts/${post.id}`);
}
