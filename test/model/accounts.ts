import type { OperationId } from '../../generated/types.js';
import { claimsOf } from '../../scripts/contract-test/client/index.js';
import { formOf, type Profile, type Session, type User } from './model.js';
import { type Change, State } from './state.js';
import { type ModelOperation, NO_STATUS, type Step } from './step.js';

/** Passwords that meet the policy for every account. */
const PASSWORDS = ['Quiet-Harbour-27!', 'Teal-Lantern-58?', 'Brisk-Meadow-93%'];

const WRONG_PASSWORD = 'Wrong-Turning-64$';

const emailOf = ({ label }: User) => `${label}@people.example`;

async function register(step: Step): Promise<void> {
  const { me } = step;
  const { known } = me.profile;
  if (known === undefined) return;
  const password = step.pickOne(PASSWORDS) ?? '';
  const json = { name: me.label, username: me.label, email: emailOf(me), password };
  const send = () => step.send('POST', '/auth/register', { json, token: undefined });
  if (known) {
    step.expect(await send(), 409);
    return;
  }
  const profile = { password, private: false, image: null };
  const created = await step.write([me.profile.changeTo(profile)], send, { done: 201 });
  if (created) me.id = created.body.id;
}

async function login(step: Step): Promise<void> {
  const { known } = step.me.profile;
  if (!known) return;
  if (step.below(8) > 0) await createSession(step, known.password);
  else step.expect(await sendLogin(step, WRONG_PASSWORD, 'another device'), 401);
}

/** Logs in. Returns the token of the new session, or undefined if the outcome is unknown or 401. */
export async function createSession(step: Step, password: string): Promise<string | undefined> {
  const { me, model } = step;
  const session: Session = { token: undefined, device: `device ${model.word()}`, alive: new State(false) };
  me.sessions.push(session);
  const send = () => sendLogin(step, password, session.device);
  const refused = me.profile.isWritable ? [] : [401];
  const response = await step.write([session.alive.changeTo(true)], send, { done: 200, refused });
  session.token = response?.body.token;
  me.id ??= response?.body.id;
  return session.token;
}

function sendLogin(step: Step, password: string, device: string) {
  const json = { email: emailOf(step.me), password };
  return step.send('POST', '/auth/login', { json, headers: { 'User-Agent': device }, token: undefined });
}

/** Returns an operation that reads the user's own account, sometimes with the token of an ended session, which returns 401. */
const readAccount =
  (path: string): ModelOperation =>
  async (step) => {
    const { me } = step;
    const ended = step.pickOne(me.sessions.filter(({ token, alive }) => token && alive.known === false));
    if (ended?.token && step.below(4) === 0) {
      step.expect(await step.send('GET', path, { token: ended.token }), 401);
      return;
    }
    const reply = await step.send('GET', path);
    step.expect(reply, 200);
    const { response } = reply;
    if (response && response.body.email !== emailOf(me)) step.fail(response, `the email should be ${emailOf(me)}`);
  };

async function logout(step: Step): Promise<void> {
  const token = step.token();
  const session = step.me.sessions.find((session) => session.token === token);
  if (!token || !session) return;
  const outcomes = { done: 200 };
  await step.write([session.alive.changeTo(false)], () => step.send('POST', '/auth/logout', { token }), outcomes);
}

async function listSessions(step: Step): Promise<void> {
  const { me } = step;
  const token = step.token();
  if (!token) return;
  const { response, since } = await step.send('GET', '/auth/sessions', { token });
  if (!response) return;
  const devices = new Set<string>(response.body.map((session: { device_name: string }) => session.device_name));
  for (const session of me.sessions) {
    const alive = session.alive.valuesSince(since);
    const wrong = alive.every((value) => value !== devices.has(session.device));
    if (wrong) step.fail(response, `${session.device} should ${alive[0] ? '' : 'not '}be listed`);
    devices.delete(session.device);
  }
  if (devices.size > 0) step.fail(response, 'unknown sessions are listed');
  for (const { id, current } of response.body)
    if (current !== (id === claimsOf(token).jti)) step.fail(response, 'current is wrong');
}

async function deleteOtherSessions(step: Step): Promise<void> {
  const token = step.token();
  if (!token) return;
  const others = step.me.sessions.filter((session) => session.token !== token);
  const changes = others.map(({ alive }) => alive.changeTo(false));
  await step.write(changes, () => step.send('DELETE', '/auth/sessions', { token }), { done: 200 });
}

async function deleteSession(step: Step): Promise<void> {
  const session = step.pickOne(step.me.sessions.filter(({ token }) => token));
  if (!session?.token) return;
  const id = claimsOf(session.token).jti;
  const alive = session.alive.known;
  if (alive === undefined) return;
  const outcomes = { done: alive ? 200 : 404 };
  await step.write([session.alive.changeTo(false)], () => step.send('DELETE', `/auth/sessions/${id}`), outcomes);
}

async function getOwnProfile(step: Step): Promise<void> {
  const reply = await step.send('GET', '/profiles/me');
  step.expect(reply, 200);
  if (reply.response) reply.checker.checkProfile(reply.response.body, step.me);
}

async function updateProfile(step: Step): Promise<void> {
  const { me, model } = step;
  const { known } = me.profile;
  if (!known || !me.profile.isWritable) return;
  const tag = `picture ${model.word()}`;
  const password = PASSWORDS[(PASSWORDS.indexOf(known.password) + 1) % PASSWORDS.length] ?? '';
  const privacy = { private: !known.private };
  const possibleChanges: Partial<Profile>[] = [
    privacy,
    privacy,
    { image: tag },
    { image: tag, ...privacy },
    { image: null },
    { password },
    {},
  ];
  const changed = step.pickOne(possibleChanges) ?? {};
  const isValid = Object.keys(changed).length > 0;
  const { image, ...fields } = isValid ? changed : { password };
  const current_password = isValid ? known.password : WRONG_PASSWORD;
  const form = formOf({ ...fields, ...(fields.password && { current_password }) }, image);
  const next: Profile = { ...known, ...changed };
  const changes: Change[] = [me.profile.changeTo(next)];
  if (changed.password) changes.push(...me.sessions.map(({ alive }) => alive.changeTo(false)));
  const outcomes = isValid ? { done: 200 } : { done: NO_STATUS, refused: [401] };
  const needs = 'image' in form ? (['images'] as const) : [];
  const response = await step.write(changes, () => step.send('PUT', '/profiles/me', { form, needs }), outcomes);
  if (response) model.learnLink(response.body.profile_link, next.image);
}

async function deleteAccount(step: Step): Promise<void> {
  const { me, model, actor } = step;
  const { known } = me.profile;
  if (!known || !me.profile.isWritable) return;
  // Most attempts use a wrong password, because most accounts must survive.
  const succeeds = step.below(3) === 0;
  const json = { password: succeeds ? known.password : WRONG_PASSWORD };
  const send = () => step.send('DELETE', '/profiles/me', { json });
  if (!succeeds) {
    step.expect(await send(), 401);
    return;
  }
  const posts = model.posts.filter(({ author }) => author === me);
  const likes = model.posts.flatMap(({ likes }) => likes.get(me) ?? []);
  const changes = [
    me.profile.changeTo(null),
    ...me.sessions.map(({ alive }) => alive.changeTo(false)),
    ...posts.map(({ content }) => content.changeTo(null)),
  ];
  const response = await step.write(changes, send, { done: 200 });
  // The graph is updated after the response, so both values are possible for a while.
  if (response) for (const like of likes) like.add(false);
  if (response) actor.user = model.addUser();
}

/** Returns a random user with a known id, who may be the current user or no longer have an account. */
export const pickUser = (step: Step): User | undefined =>
  step.pickOne(step.model.users.filter(({ id }) => id !== undefined));

async function getProfile(step: Step): Promise<void> {
  const owner = pickUser(step);
  const reply = await step.send('GET', `/profiles/${owner?.id ?? Number.MAX_SAFE_INTEGER}`, { needs: ['graph'] });
  if (!owner) return step.expect(reply, 404);
  const profiles = owner.profile.valuesSince(reply.since);
  const possible = [...(profiles.includes(null) ? [404] : []), ...(profiles.some((profile) => profile) ? [200] : [])];
  step.expect(reply, ...possible);
  if (reply.status === 200) reply.checker.checkProfile(reply.response?.body, owner);
}

/** Returns an operation that requests one of the last 20 links that responses contained, whether or not it is still valid. */
export const getImage =
  (prefix: string): ModelOperation =>
  async (step) => {
    const link = step.pickOne([...step.model.tags.keys()].filter((link) => link.startsWith(prefix)).slice(-20));
    if (!link) return;
    const reply = await step.send('GET', link, { needs: ['graph', 'images'] });
    if (reply.response) reply.checker.checkImage(reply.response, link);
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
} satisfies Partial<Record<OperationId, ModelOperation>>;
