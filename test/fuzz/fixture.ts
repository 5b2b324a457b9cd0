import { sendByHttp as send } from '../support/http.js';
import { picture } from '../support/picture.js';

interface Attacker {
  id: number;
  email: string;
  username: string;
  password: string;
  token: string;
  sessionId: string;
}

/** Test data for requests: the attackers' accounts, and ids that the attackers know or may guess. */
export interface Fixture {
  attackers: Attacker[];
  /** A private account, with the filenames of its images. */
  privateUser: { id: number; postIds: number[]; filenames: string[]; sessionId: string };
  publicUser: { id: number; postId: number; filename: string };
}

interface FuzzSetup {
  fixture: Fixture;
  /** Part of all texts of the private account. No response to an attacker may contain it. */
  marker: string;
  /** Logs in attackers whose sessions have ended, and replaces those who can no longer log in. */
  refresh(): Promise<void>;
  /** Returns all data of the private account, to compare it before and after the run. */
  snapshot(): Promise<string>;
}

/** The password of all accounts but the attackers'. No response and no log may contain it. */
export const OWNER_PASSWORD = 'Teal-Lantern.58!';

const ATTACKERS = 6;
const HIDDEN_POSTS = 3;

interface Post {
  id: number;
  image: string;
}

/** Creates a private account with a friend and posts, a public account, and attackers. Names are derived from the seed. */
export async function createFixture(url: string, seed: string): Promise<FuzzSetup> {
  const marker = `hidden${Buffer.from(seed).toString('hex').slice(0, 16)}`;
  let userCount = 0;
  const createAccount = async (email: string, password: string) => {
    const username = `u${userCount++}x${marker.slice(-4)}`;
    const registered = await send(url, 'POST', '/auth/register', { json: { name: 'A', username, email, password } });
    if (registered.status !== 201) throw new Error(`Registration failed: ${registered.bytes}`);
    return { id: registered.body.id as number, email, username, password, ...(await login(email, password)) };
  };
  const login = async (email: string, password: string) => {
    const { status, body } = await send(url, 'POST', '/auth/login', { json: { email, password } });
    if (status !== 200) return { token: '', sessionId: '' };
    const { jti } = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString());
    return { token: body.token as string, sessionId: jti as string };
  };
  const image = picture();
  const createPost = async (token: string, title: string, text: string) =>
    (await send(url, 'POST', '/posts/create', { token, form: { title, text, image } })).body as Post;
  const filenameOf = (path: string) => path.split('/').at(-1) ?? '';

  const owner = await createAccount(`owner@${marker}.example`, OWNER_PASSWORD);
  const friend = await createAccount(`friend@${marker}.example`, OWNER_PASSWORD);
  await send(url, 'PUT', '/profiles/me', { token: owner.token, form: { private: 'true', image } });
  await send(url, 'POST', `/friends/request?to=${owner.id}`, { token: friend.token });
  await send(url, 'POST', `/friends/accept?from=${friend.id}`, { token: owner.token });
  const hiddenPosts: Post[] = [];
  for (let count = 0; count < HIDDEN_POSTS; count++) {
    hiddenPosts.push(await createPost(owner.token, `${marker} title`, `${marker} text`));
  }
  const publicUser = await createAccount(`public@${marker}.example`, OWNER_PASSWORD);
  const publicPost = await createPost(publicUser.token, 'A public title', 'A public text');
  const profile = (await send(url, 'GET', '/profiles/me', { token: owner.token })).body;

  const attackerPassword = 'Attacker-Lantern.58';
  const createAttacker = () => createAccount(`attacker${userCount}@attackers.example`, attackerPassword);
  const attackers: Attacker[] = [];
  for (let count = 0; count < ATTACKERS; count++) attackers.push(await createAttacker());

  return {
    marker,
    fixture: {
      attackers,
      privateUser: {
        id: owner.id,
        postIds: hiddenPosts.map(({ id }) => id),
        filenames: [...hiddenPosts.map((post) => post.image), profile.profile_link].map(filenameOf),
        sessionId: owner.sessionId,
      },
      publicUser: { id: publicUser.id, postId: publicPost.id, filename: filenameOf(publicPost.image) },
    },
    async refresh() {
      for (const [index, { token, email, password }] of attackers.entries()) {
        if ((await send(url, 'GET', '/auth/me', { token })).status === 200) continue;
        const session = await login(email, password);
        const attacker = attackers[index];
        if (session.token !== '' && attacker) Object.assign(attacker, session);
        else attackers[index] = await createAttacker();
      }
    },
    async snapshot() {
      const paths = ['/auth/me', '/profiles/me', '/posts/me?limit=100', '/friends', profile.profile_link];
      paths.push(...hiddenPosts.flatMap(({ id, image: path }) => [`/posts/${id}`, path]));
      const seen: string[] = [];
      for (const path of paths) {
        const { status, bytes } = await send(url, 'GET', path, { token: owner.token });
        seen.push(`${path} ${status} ${bytes.toString('base64')}`);
      }
      return seen.join('\n');
    },
  };
}
