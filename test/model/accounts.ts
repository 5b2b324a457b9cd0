import type { OperationId } from '../../generated/types.js';
import { Cell, type Change, change } from './cell.js';
import { Sight } from './sight.js';
import type { Operation, Turn } from './turn.js';
import { imageOf, type Person, type Profile, type Session } from './world.js';

/** Each fits every rule, whatever the account. */
const PASSWORDS = ['Quiet-Harbour-27!', 'Teal-Lantern-58?', 'Brisk-Meadow-93%'];

const WRONG = 'Wrong-Turning-64$';

export async function register(turn: Turn): Promise<void> {
  const { me } = turn;
  const ask = (json: object) => turn.ask('POST', '/auth/register', { json, token: undefined });
  const { known } = me.profile;
  if (known !== null) {
    // Somebody has this name, unless that has just changed.
    if (!known) return;
    const taken = turn.pick(2) ? { username: known.username.toUpperCase() } : { email: known.email };
    const { username, email } = { ...newProfile(turn), ...taken };
    turn.expect(await ask({ name: 'Somebody', username, email, password: PASSWORDS[0] }), 409);
    return;
  }
  const profile = newProfile(turn);
  const { name, username, email, password } = profile;
  const created = await turn.write(
    [change<Profile | null>(me.profile, () => profile)],
    () => ask({ name, username, email, password }),
    { done: 201, refused: [] },
  );
  if (created) me.id = created.body.id;
}

function newProfile(turn: Turn): Profile {
  const username = turn.world.word();
  const password = turn.one(PASSWORDS) ?? '';
  return {
    name: `Name ${username}`,
    username,
    email: `${username}@people.example`,
    password,
    private: false,
    picture: null,
  };
}

export async function login(turn: Turn): Promise<void> {
  const { me } = turn;
  const { known } = me.profile;
  if (!known) return;
  if (turn.pick(8) === 0) {
    turn.expect(await askLogin(turn, { ...known, password: WRONG }, 'somebody else'), 401);
    return;
  }
  await logIn(turn, known);
}

/** Starts a session of one's own; answers its token. */
export async function logIn(turn: Turn, { email, password }: Pick<Profile, 'email' | 'password'>) {
  const { me, world } = turn;
  const session: Session = { token: undefined, device: `device ${world.word()}`, alive: new Cell(false) };
  me.sessions.push(session);
  const answer = await turn.write(
    [change(session.alive, () => true)],
    () => askLogin(turn, { email, password }, session.device),
    { done: 200, refused: me.profile.settled ? [] : [401] },
  );
  if (answer) Object.assign(session, { token: answer.body.token });
  if (answer) me.id ??= answer.body.id;
  return answer?.body.token as string | undefined;
}

const askLogin = (turn: Turn, { email, password }: { email: string; password: string }, device: string) =>
  turn.ask('POST', '/auth/login', { json: { email, password }, headers: { 'User-Agent': device }, token: undefined });

/** The account as its owner reads it, or a 401 to a token that is worth nothing any more. */
const readAccount =
  (path: string): Operation =>
  async (turn) => {
    const { me } = turn;
    const dead = turn.one(me.sessions.filter(({ token, alive }) => token && alive.known === false));
    if (dead?.token && turn.pick(4) === 0) {
      turn.expect(await turn.ask('GET', path, { token: dead.token }), 401);
      return;
    }
    const reply = await turn.ask('GET', path);
    turn.expect(reply, 200);
    const { answer, since } = reply;
    const emails = me.profile.since(since).map(({ value }) => value?.email);
    if (answer && !emails.includes(answer.body.email)) turn.disagree(answer, `the email is ${emails}`);
  };

async function logout(turn: Turn): Promise<void> {
  const token = turn.token();
  const session = turn.me.sessions.find((session) => session.token === token);
  if (!token || !session) return;
  const outcomes = { done: 200, refused: [] };
  await turn.write([change(session.alive, () => false)], () => turn.ask('POST', '/auth/logout', { token }), outcomes);
}

async function listSessions(turn: Turn): Promise<void> {
  const { me } = turn;
  const token = turn.token();
  if (!token) return;
  const { answer, since } = await turn.ask('GET', '/auth/sessions', { token });
  if (!answer) return;
  const devices = new Set<string>(answer.body.map((session: { device_name: string }) => session.device_name));
  for (const session of me.sessions) {
    const alive = session.alive.since(since).map(({ value }) => value);
    const wrong = alive.every((value) => value !== devices.has(session.device));
    if (wrong) turn.disagree(answer, `${session.device} should ${alive[0] ? '' : 'not '}be there`);
    devices.delete(session.device);
  }
  if (devices.size > 0) turn.disagree(answer, 'these are nobody’s');
  for (const { id, current } of answer.body)
    if (current !== (id === idOf(token))) turn.disagree(answer, 'another is current');
}

async function deleteOtherSessions(turn: Turn): Promise<void> {
  const token = turn.token();
  if (!token) return;
  const others = turn.me.sessions.filter((session) => session.token !== token);
  const changes = others.map(({ alive }) => change(alive, () => false));
  await turn.write(changes, () => turn.ask('DELETE', '/auth/sessions', { token }), { done: 200, refused: [] });
}

async function deleteSession(turn: Turn): Promise<void> {
  const session = turn.one(turn.me.sessions.filter(({ token }) => token));
  if (!session?.token) return;
  const id = idOf(session.token);
  const alive = session.alive.known;
  if (alive === undefined) return;
  const outcomes = alive ? { done: 200, refused: [] } : { done: 404, refused: [] };
  await turn.write([change(session.alive, () => false)], () => turn.ask('DELETE', `/auth/sessions/${id}`), outcomes);
}

/** RFC 7519: the second part of a token holds its claims. */
const idOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;

async function getOwnProfile(turn: Turn): Promise<void> {
  const reply = await turn.ask('GET', '/profiles/me');
  turn.expect(reply, 200);
  if (reply.answer) new Sight(turn.world, turn.me, reply.since).profile(reply.answer.body, turn.me);
}

async function updateProfile(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const { known } = me.profile;
  if (!known || !me.profile.settled) return;
  const word = world.word();
  const tag = `picture ${word}`;
  const image = new Blob([imageOf(tag)], { type: 'image/png' });
  const password = PASSWORDS[(PASSWORDS.indexOf(known.password) + 1) % PASSWORDS.length] ?? '';
  const privacy = { private: !known.private };
  const [changed, form] = turn.one<[Partial<Profile>, Record<string, string | Blob>]>([
    [privacy, { private: String(privacy.private) }],
    [privacy, { private: String(privacy.private) }],
    [{ name: word }, { name: word }],
    [
      { username: word, name: `N ${word}` },
      { username: word, name: `N ${word}` },
    ],
    [{ email: `${word}@people.example` }, { email: `${word}@people.example` }],
    [{ picture: tag }, { image }],
    [
      { picture: tag, ...privacy },
      { image, private: String(privacy.private) },
    ],
    [{ picture: null }, { remove_image: 'true' }],
    [{ password }, { password, current_password: known.password }],
    [{}, { password, current_password: WRONG }],
  ]) ?? [{}, {}];
  const next: Profile = { ...known, ...changed };
  const changes: Change[] = [change<Profile | null>(me.profile, () => next)];
  if (changed.password) changes.push(...me.sessions.map(({ alive }) => change(alive, () => false)));
  const possible = Object.keys(changed).length > 0 ? { done: 200, refused: [] } : { done: -1, refused: [401] };
  const needs = 'image' in form ? (['images'] as const) : [];
  const answer = await turn.write(changes, () => turn.ask('PUT', '/profiles/me', { form, needs }), possible);
  if (answer) world.learn(answer.body.profile_link, next.picture);
}

async function deleteAccount(turn: Turn): Promise<void> {
  const { me, world, client } = turn;
  const { known } = me.profile;
  if (!known || !me.profile.settled) return;
  // Most stay.
  const leaves = turn.pick(3) === 0;
  const json = { password: leaves ? known.password : WRONG };
  const ask = () => turn.ask('DELETE', '/profiles/me', { json });
  if (!leaves) {
    turn.expect(await ask(), 401);
    return;
  }
  const posts = world.posts.filter(({ author }) => author === me);
  const likes = world.posts.flatMap(({ likes }) => likes.get(me) ?? []);
  const changes = [
    change<Profile | null>(me.profile, () => null),
    ...me.sessions.map(({ alive }) => change(alive, () => false)),
    ...posts.map(({ content }) => change<(typeof content)['now'][number]>(content, () => null)),
  ];
  const answer = await turn.write(changes, ask, { done: 200, refused: [] });
  // The graph follows a little later.
  if (answer) for (const like of likes) like.add([false]);
  if (answer) client.person = world.addPerson(null);
}

/** Anybody: oneself, and those who have gone. */
export const somebody = (turn: Turn): Person | undefined =>
  turn.one(turn.world.people.filter(({ id }) => id !== undefined));

async function getProfile(turn: Turn): Promise<void> {
  const owner = somebody(turn);
  const reply = await turn.ask('GET', `/profiles/${owner?.id ?? Number.MAX_SAFE_INTEGER}`, { needs: ['graph'] });
  if (!owner) return turn.expect(reply, 404);
  const profiles = owner.profile.since(reply.since).map(({ value }) => value);
  const possible = [...(profiles.includes(null) ? [404] : []), ...(profiles.some((profile) => profile) ? [200] : [])];
  turn.expect(reply, ...possible);
  if (reply.status === 200) new Sight(turn.world, turn.me, reply.since).profile(reply.answer?.body, owner);
}

/** An image by one of the links that were ever given out. */
export const getImage =
  (route: string): Operation =>
  async (turn) => {
    const link = turn.one([...turn.world.tags.keys()].filter((link) => link.startsWith(route)).slice(-20));
    if (!link) return;
    const reply = await turn.ask('GET', link, { needs: ['graph', 'images'] });
    if (reply.answer) new Sight(turn.world, turn.me, reply.since).image(reply.answer, link);
  };

export const accounts = {
  register,
  login,
  getCurrentAccount: readAccount('/auth/me'),
  verifySession: readAccount('/auth/verify'),
  logout,
  listSessions,
  deleteOtherSessions,
  deleteSession,
  getOwnProfile,
  updateProfile,
  deleteAccount,
  getProfile,
  getProfileImage: getImage('/profiles/image/'),
} satisfies Partial<Record<OperationId, Operation>>;
