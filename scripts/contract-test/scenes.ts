import type { Cast, Person } from './cast.js';
import type { Sent } from './client.js';
import { samples } from './images.js';

export interface Post {
  id: number;
  title: string;
  text: string;
  image: string | null;
  author_id: number;
  author_username: string | null;
  created_at: string;
  like_count: number;
  liked_by_me: boolean;
}

export const png = () => new File([samples.png], 'a picture.png', { type: 'image/png' });

/** Publishes a post, and answers it. */
export async function publish(author: Person, form: Record<string, string | File> = {}): Promise<Post> {
  return (await author.ask(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text', ...form } })).body;
}

export const befriend = async (one: Person, other: Person) => {
  await one.ask(200, `POST /friends/request?to=${other.id}`);
  await other.ask(200, `POST /friends/accept?from=${one.id}`);
};

/** Ends whatever is between two people. */
export async function part(one: Person, other: Person): Promise<void> {
  await one.ask([200, 404], `DELETE /friends/remove?id=${other.id}`);
  await one.ask([200, 404], `POST /friends/cancel?to=${other.id}`);
  await one.ask([200, 404], `POST /friends/decline?from=${other.id}`);
}

/**
 * A private account with a picture and a post with an image, seen by everybody who may come by. Rules look at it, and leave
 * it as it is.
 */
export interface Seclusion {
  owner: Person;
  friend: Person;
  /** Has asked the owner, who has not answered. */
  requester: Person;
  /** Was asked by the owner, and has not answered. */
  requested: Person;
  stranger: Person;
  /** Was a friend, until the owner ended it. */
  exFriend: Person;
  post: Post & { image: string };
  picture: string;
}

/** Those of a seclusion who see no more than three fields of the owner. */
export const OUTSIDERS = ['stranger', 'requester', 'requested', 'exFriend'] as const;

export const seclusion = (cast: Cast): Promise<Seclusion> =>
  cast.once('seclusion', async () => {
    const owner = await cast.person('owner');
    const { body } = await owner.ask(200, 'PUT /profiles/me', { form: { private: 'true', image: png() } });
    const post = (await publish(owner, { image: png() })) as Seclusion['post'];
    const [friend, requester, requested, stranger, exFriend] = [
      await cast.person('friend'),
      await cast.person('requester'),
      await cast.person('requested'),
      await cast.person('ada'),
      await cast.person('ben'),
    ];
    await befriend(friend, owner);
    await requester.ask(200, `POST /friends/request?to=${owner.id}`);
    await owner.ask(200, `POST /friends/request?to=${requested.id}`);
    await befriend(exFriend, owner);
    await owner.ask(200, `DELETE /friends/remove?id=${exFriend.id}`);
    return { owner, friend, requester, requested, stranger, exFriend, post, picture: body.profile_link };
  });

/** A public person with a picture and a post with an image. Rules look at it, and leave it as it is. */
export const openHouse = (cast: Cast) =>
  cast.once('open house', async () => {
    const owner = await cast.person('cleo');
    const { body } = await owner.ask(200, 'PUT /profiles/me', { form: { image: png() } });
    const post = (await publish(owner, { image: png() })) as Seclusion['post'];
    return { owner, visitor: await cast.person('ada'), post, picture: body.profile_link as string };
  });

/** How a person's browser sends a request: with the cookie alone. */
export const byCookie = (token: string, headers: Record<string, string> = {}): Sent => ({
  headers: { Cookie: `fc_session_token=${token}`, ...headers },
});
