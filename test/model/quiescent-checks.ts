import type { OperationId } from '../../generated/types.js';
import { nextPagePath } from '../support/http.js';
import { createSession } from './accounts.js';
import type { ServiceFixture } from './fixture.js';
import { friends } from './friends.js';
import type { Model, Profile, User } from './model.js';
import { expectedPostStatuses } from './posts.js';
import { tick } from './state.js';
import { Step } from './step.js';
import { showsContent, showsProfile, ViewChecker } from './views.js';

// These checks run between rounds, when nothing writes and every store responds.

/** Resolves every uncertain value by reading it, then checks everything that each user can see. */
export async function readAll(model: Model, fixture: ServiceFixture): Promise<void> {
  const stepOf = (user: User, operation: OperationId) => new Step(model, { user }, operation, 0, fixture);
  for (const user of model.users) {
    await resolveProfile(stepOf(user, 'login'));
    if (user.profile.known) await resolveSessions(stepOf(user, 'listSessions'));
  }
  for (const user of model.users) await resolvePosts(stepOf(user, 'listOwnPosts'));
  const existing = model.users.filter(({ profile }) => profile.known);
  for (const user of existing) await resolveRelations(stepOf(user, 'listFriends'));
  for (const user of existing) await resolveLikes(stepOf(user, 'getPost'));
  for (const user of existing) await checkAll(stepOf(user, 'listPosts'));
}

/** Finds the state of an account by trying the possible passwords and reading the profile. */
async function resolveProfile(step: Step): Promise<void> {
  const { me, model } = step;
  const possible = me.profile.current;
  if (possible.length < 2) return;
  const profiles = possible.filter((profile): profile is Profile => profile !== null);
  for (const profile of profiles) {
    const token = await createSession(step, profile.password);
    if (!token) continue;
    const shown = (await step.send('GET', '/profiles/me', { token })).response?.body;
    const found = profiles.find(
      (candidate) => candidate.password === profile.password && showsProfile(model, candidate, shown),
    );
    me.profile.narrow((value) => value === found, `${me.label} has read ${JSON.stringify(shown)}`);
    if (found) model.learnLink(shown.profile_link, found.image);
    return;
  }
  me.profile.narrow((profile) => profile === null, 'no password works');
  for (const { alive } of me.sessions) alive.narrow((value) => !value, 'there is no account');
}

async function resolveSessions(step: Step): Promise<void> {
  const { me } = step;
  if (!step.token()) await createSession(step, (me.profile.known as Profile).password);
  const { response } = await step.send('GET', '/auth/sessions', { token: step.token() });
  const devices = response?.body.map((session: { device_name: string }) => session.device_name);
  for (const { alive, device } of me.sessions)
    alive.narrow((value) => value === devices.includes(device), `${me.label} has read whether ${device} has a session`);
}

async function resolvePosts(step: Step): Promise<void> {
  const { me, model } = step;
  const mine = model.posts.filter(({ author }) => author === me);
  const { known } = me.profile;
  const bodies = known ? (await readPages(step, '/posts/me')).bodies : [];
  const checker = new ViewChecker(model, me, 0);
  for (const body of bodies) checker.checkPost(body);
  for (const { id, content } of mine) {
    const body = bodies.find((body) => body.id === id);
    const found = content.current.find((value) => value && body && showsContent(model, value, body));
    content.narrow((value) => value === found || (!value && !body), `${me.label} has read post ${id}`);
    if (found) model.learnLink(body.image, found.image);
  }
}

/**
 * Returns the items of all pages of a list, or up to the first page with an item for which `isEnough` holds, and whether these
 * are all.
 */
// biome-ignore lint/suspicious/noExplicitAny: every body was validated against the contract.
async function readPages(step: Step, path: string, isEnough = (_: any) => false) {
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const bodies: any[] = [];
  for (let next = `${path}?limit=60`; ; ) {
    const { response } = await step.send('GET', next);
    bodies.push(...(response?.body ?? []));
    const following = response && nextPagePath(response.headers);
    const isEndedEarly = bodies.some(isEnough);
    if (!following || isEndedEarly) return { bodies, isComplete: response !== undefined && !isEndedEarly };
    next = following;
  }
}

/** Narrows the relations by what this user sees: friends, and requests of others. Each relation is seen by both its users. */
async function resolveRelations(step: Step): Promise<void> {
  const { me, model } = step;
  const friends = await readIds(step, '/friends');
  const requests = await readIds(step, '/friends/requests');
  for (const other of model.users) {
    const relation = model.relation(me, other);
    if (other === me || relation.current.length < 2 || Date.now() < relation.uncertainUntil || !other.profile.known)
      continue;
    const [isFriend, hasRequested] = [friends.includes(other.id), requests.includes(other.id)];
    relation.narrow(
      (value) => (value === 'friends') === isFriend && (value === `requested by ${other.label}`) === hasRequested,
      `${me.label} has read the relation to ${other.label}`,
    );
  }
}

const readIds = async (step: Step, path: string): Promise<(number | undefined)[]> =>
  (await step.send('GET', path)).response?.body.map(({ id }: { id: number }) => id);

async function resolveLikes(step: Step): Promise<void> {
  const { me, model } = step;
  for (const post of model.posts) {
    const like = model.like(me, post);
    if (like.current.length < 2 || Date.now() < like.uncertainUntil || !post.content.known) continue;
    const { response } = await step.send('GET', `/posts/${post.id}`);
    if (response?.status === 200)
      like.narrow((value) => value === response.body.liked_by_me, `${me.label} has read the post`);
  }
}

/** Reads everything that a user may see, and recent content that the user may not see. */
async function checkAll(step: Step): Promise<void> {
  const { me, model } = step;
  const checker = new ViewChecker(model, me, tick());
  const isForeign = ({ author_id }: { author_id: number }) => model.findUser(author_id) === undefined;
  const { bodies, isComplete } = await readPages(step, '/posts', isForeign);
  checker.checkPosts(bodies, isComplete, () => true);
  const shown = new Set(bodies.map(({ id }) => id));
  for (const post of model.posts.filter(({ id }) => id !== undefined && !shown.has(id)).slice(-10)) {
    const reply = await step.send('GET', `/posts/${post.id}`);
    step.expect(reply, ...expectedPostStatuses(step, post, checker.since));
    if (reply.status === 200) checker.checkPost(reply.response?.body);
  }
  for (const link of [...model.tags.keys()].slice(-6)) {
    const { response } = await step.send('GET', link);
    if (response) checker.checkImage(response, link);
  }
  for (const user of model.users.filter(({ id }) => id !== undefined).slice(-12)) {
    const reply = await step.send('GET', `/profiles/${user.id}`);
    step.expect(reply, user.profile.known ? 200 : 404);
    if (reply.status === 200) checker.checkProfile(reply.response?.body, user);
  }
  for (const list of [friends.listFriends, friends.listFriendRequests]) await list(step);
}
