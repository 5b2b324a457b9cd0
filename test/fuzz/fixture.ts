import { randomBytes } from 'node:crypto';
import { claimsOf } from '../../scripts/contract-test/client/index.js';
import { sendByHttp as send } from '../support/http.js';
import { picture } from '../support/picture.js';
import { repeat } from '../support/store-fixtures.js';
import { registerWith } from '../support/users.js';

type Account = Awaited<ReturnType<typeof registerWith>>;

/** Test data for requests: the attackers' accounts, and ids that the attackers know or may guess. */
export interface Fixture {
  attackers: Account[];
  /** A private account, with the filenames of its images. */
  privateUser: { id: number; postIds: number[]; filenames: string[]; sessionId: string };
  publicUser: { id: number; postId: number; filename: string };
}

interface FuzzSetup {
  fixture: Fixture;
  /**
   * Data of the other accounts: the hidden texts, the password and the email addresses. No response to an attacker and no log
   * may contain it.
   */
  secrets: string[];
  /** Logs in attackers whose sessions have ended, and replaces those who can no longer log in. */
  refresh(): Promise<void>;
  /** Returns all data of the private account, to compare it before and after the run. */
  snapshot(): Promise<string>;
}

/** The password of all accounts except the attackers'. Differs from the passwords in the texts that the fuzzer sends. */
const OWNER_PASSWORD = 'Teal-Lantern.58!';

const ATTACKERS = 6;
const HIDDEN_POSTS = 3;

interface Post {
  id: number;
  image: string;
}

/** Creates a private account with a friend and posts, a public account, and attackers. */
export async function createFixture(url: string): Promise<FuzzSetup> {
  const marker = `hidden${randomBytes(6).toString('hex')}`;
  const register = (password: string) => registerWith((...request) => send(url, ...request), password);
  const image = picture();
  const createPost = async (token: string, title: string, text: string) =>
    (await send(url, 'POST', '/posts/create', { token, form: { title, text, image } })).body as Post;
  const filenameOf = (path: string) => path.split('/').at(-1) ?? '';

  const owner = await register(OWNER_PASSWORD);
  const friend = await register(OWNER_PASSWORD);
  await send(url, 'PUT', '/profiles/me', { token: owner.token, form: { private: 'true', image } });
  await send(url, 'POST', `/friends/request?to=${owner.id}`, { token: friend.token });
  await send(url, 'POST', `/friends/accept?from=${friend.id}`, { token: owner.token });
  const hiddenPosts: Post[] = [];
  for (let count = 0; count < HIDDEN_POSTS; count++) {
    hiddenPosts.push(await createPost(owner.token, `${marker} title`, `${marker} text`));
  }
  const publicUser = await register(OWNER_PASSWORD);
  const publicPost = await createPost(publicUser.token, 'A public title', 'A public text');
  const profile = (await send(url, 'GET', '/profiles/me', { token: owner.token })).body;

  const createAttacker = () => register('Attacker-Lantern.58');
  const attackers = await repeat(ATTACKERS, createAttacker);

  return {
    secrets: [marker, OWNER_PASSWORD, ...[owner, friend, publicUser].map(({ email }) => email)],
    fixture: {
      attackers,
      privateUser: {
        id: owner.id,
        postIds: hiddenPosts.map(({ id }) => id),
        filenames: [...hiddenPosts.map((post) => post.image), profile.profile_link].map(filenameOf),
        sessionId: claimsOf(owner.token).jti,
      },
      publicUser: { id: publicUser.id, postId: publicPost.id, filename: filenameOf(publicPost.image) },
    },
    async refresh() {
      for (const [index, attacker] of attackers.entries()) {
        if ((await send(url, 'GET', '/auth/me', { token: attacker.token })).status === 200) continue;
        const token = await attacker.login();
        attackers[index] = token ? { ...attacker, token } : await createAttacker();
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
