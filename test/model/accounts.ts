import type { OperationId } from '../../generated/types.js';
import { formOf, type Profile, type User } from './model.js';
import type { ModelOperation, Step } from './step.js';

const PASSWORD = 'Quiet-Harbour-27!';
const WRONG_PASSWORD = 'Wrong-Turning-64$';

const emailOf = ({ label }: User) => `${label}@people.example`;

async function register(step: Step): Promise<void> {
  const { me } = step;
  if (me.profile.known !== null) return;
  const profile = { private: false, image: null };
  const json = { name: me.label, username: me.label, email: emailOf(me), password: PASSWORD };
  const send = () => step.send('POST', '/auth/register', { json, token: undefined });
  const created = await step.write([me.profile.changeTo(profile)], send, { done: 201 });
  if (created) me.id = created.body.id;
}

async function login(step: Step): Promise<void> {
  if (step.me.profile.known) step.expect(await logIn(step), 200);
}

/** Logs in. The session is used from then on. Returns the response, which is undefined if the outcome is unknown. */
export async function logIn(step: Step) {
  const { me } = step;
  const json = { email: emailOf(me), password: PASSWORD };
  const reply = await step.send('POST', '/auth/login', { json, token: undefined });
  if (reply.status === 200) Object.assign(me, { token: reply.response?.body.token, id: reply.response?.body.id });
  return reply;
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
  const privacy = { private: !known.private };
  const possibleChanges: Partial<Profile>[] = [
    privacy,
    privacy,
    { image: tag },
    { image: tag, ...privacy },
    { image: null },
  ];
  const { image, ...fields } = step.pickOne(possibleChanges) ?? {};
  const form = formOf(fields, image);
  const next: Profile = { ...known, ...fields, ...(image !== undefined && { image }) };
  const needs = 'image' in form ? (['images'] as const) : [];
  const send = () => step.send('PUT', '/profiles/me', { form, needs });
  const response = await step.write([me.profile.changeTo(next)], send, { done: 200 });
  if (response) model.learnLink(response.body.profile_link, next.image);
}

async function deleteAccount(step: Step): Promise<void> {
  const { me, model, actor } = step;
  const { known } = me.profile;
  if (!known || !me.profile.isWritable) return;
  // Most attempts use a wrong password, because most accounts must survive.
  const succeeds = step.below(3) === 0;
  const json = { password: succeeds ? PASSWORD : WRONG_PASSWORD };
  const send = () => step.send('DELETE', '/profiles/me', { json });
  if (!succeeds) {
    step.expect(await send(), 401);
    return;
  }
  const posts = model.posts.filter(({ author }) => author === me);
  const changes = [me.profile.changeTo(null), ...posts.map(({ content }) => content.changeTo(null))];
  const response = await step.write(changes, send, { done: 200 });
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
  getOwnProfile,
  updateProfile,
  deleteAccount,
  getProfile,
  getProfileImage: getImage('/profiles/image/'),
} satisfies Partial<Record<OperationId, ModelOperation>>;
