import type { OperationId } from '../../generated/types.js';
import { logIn } from './accounts.js';
import { Disagreement, tick } from './cell.js';
import { friends } from './friends.js';
import { seen } from './posts.js';
import { Sight } from './sight.js';
import { type Stage, Turn } from './turn.js';
import type { Person, Profile, Tie, World } from './world.js';

// Nobody writes, and every store answers: what was left open is read, and then all that everybody sees is.

export async function readAll(world: World, stage: Stage): Promise<void> {
  const turnOf = (person: Person, operation: OperationId) => new Turn(world, { person }, operation, 0, stage);
  for (const person of world.people) {
    await settleProfile(turnOf(person, 'login'));
    if (person.profile.known) await settleSessions(turnOf(person, 'listSessions'));
  }
  for (const person of world.people) await settlePosts(turnOf(person, 'listOwnPosts'));
  const living = world.people.filter(({ profile }) => profile.known);
  for (const person of living) await settleTies(turnOf(person, 'listFriends'));
  for (const person of living) await settleLikes(turnOf(person, 'getPost'));
  for (const person of living) await lookAround(turnOf(person, 'listPosts'));
}

/** Which of its possible states an account is in: whose password opens it, and what its owner reads. */
async function settleProfile(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const possible = me.profile.now;
  if (possible.length < 2) return;
  const profiles = possible.filter((profile): profile is Profile => profile !== null);
  for (const profile of profiles) {
    const token = await logIn(turn, profile);
    if (!token) continue;
    const account = (await turn.ask('GET', '/auth/me', { token })).answer?.body;
    const shown = (await turn.ask('GET', '/profiles/me', { token })).answer?.body;
    const found = profiles.find(
      (one) =>
        one.password === profile.password &&
        one.email === account.email &&
        one.name === shown.name &&
        one.username === shown.username &&
        one.private === shown.private &&
        world.fits(shown.profile_link, one.picture),
    );
    if (!found) throw new Disagreement(`${me.label} is none of ${JSON.stringify(profiles)}: ${JSON.stringify(shown)}`);
    world.learn(shown.profile_link, found.picture);
    me.profile.keep((one) => one === found, 'the owner has logged in');
    return;
  }
  me.profile.keep((profile) => profile === null, 'nobody can log in');
  for (const { alive } of me.sessions) alive.keep((value) => !value, 'there is no account');
}

async function settleSessions(turn: Turn): Promise<void> {
  const { me } = turn;
  if (!turn.token()) await logIn(turn, me.profile.known as Profile);
  const { answer } = await turn.ask('GET', '/auth/sessions', { token: turn.token() });
  const devices = answer?.body.map((session: { device_name: string }) => session.device_name);
  for (const { alive, device } of me.sessions) {
    if (alive.known === undefined)
      alive.keep((value) => value === devices.includes(device), `${device} was looked for`);
  }
}

async function settlePosts(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const mine = world.posts.filter(({ author }) => author === me);
  const { known } = me.profile;
  const bodies = known ? await pages(turn, '/posts/me') : [];
  const sight = new Sight(world, me, 0);
  for (const body of bodies) sight.post(body);
  for (const { id, content } of mine) {
    const body = bodies.find((body) => body.id === id);
    const found = content.now.find((one) =>
      one && body
        ? one.title === body.title && one.text === body.text && world.fits(body.image, one.image)
        : one === body,
    );
    content.keep((one) => one === found || (!one && !body), `${me.label} has read post ${id}`);
    if (found) world.learn(body.image, found.image);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: every body has been held against the contract.
async function pages(turn: Turn, path: string, isEnough = (_: any) => false): Promise<any[]> {
  const limit = 60;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const bodies: any[] = [];
  for (let offset = 0; ; offset += limit) {
    const { answer } = await turn.ask('GET', `${path}?limit=${limit}&offset=${offset}`);
    bodies.push(...(answer?.body ?? []));
    if (!answer?.headers.has('link') || bodies.some(isEnough)) return bodies;
  }
}

async function settleTies(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const friends = await idsOf(turn, '/friends');
  const requests = await idsOf(turn, '/friends/requests');
  for (const other of world.people) {
    const tie = world.tie(me, other);
    if (other === me || tie.now.length < 2 || Date.now() < tie.openUntil || !other.profile.known) continue;
    let now: Tie = 'none';
    if (friends.includes(other.id)) now = 'friends';
    else if (requests.includes(other.id)) now = `asked by ${other.label}`;
    else if (await hasAsked(turn, other)) now = `asked by ${me.label}`;
    tie.keep((value) => value === now, `${me.label} and ${other.label} were looked at, and are ${now}`);
  }
}

async function hasAsked(turn: Turn, other: Person): Promise<boolean> {
  const theirs = new Turn(turn.world, { person: other }, 'listFriendRequests', 0, turn.stage);
  return (await idsOf(theirs, '/friends/requests')).includes(turn.me.id);
}

const idsOf = async (turn: Turn, path: string): Promise<(number | undefined)[]> =>
  (await turn.ask('GET', path)).answer?.body.map(({ id }: { id: number }) => id);

async function settleLikes(turn: Turn): Promise<void> {
  const { me, world } = turn;
  for (const post of world.posts) {
    const like = world.like(me, post);
    if (like.now.length < 2 || Date.now() < like.openUntil || !post.content.known) continue;
    const { answer } = await turn.ask('GET', `/posts/${post.id}`);
    if (answer?.status === 200)
      like.keep((value) => value === answer.body.liked_by_me, `${me.label} has read the post`);
  }
}

/** Everything that one person may see, and what of late she may not. */
async function lookAround(turn: Turn): Promise<void> {
  const { me, world } = turn;
  const sight = new Sight(world, me, tick());
  const bodies = await pages(turn, '/posts', ({ author_id }) => world.personBy(author_id) === undefined);
  sight.posts(bodies, false, () => true);
  const shown = new Set(bodies.map(({ id }) => id));
  for (const post of world.posts.filter(({ id }) => id !== undefined && !shown.has(id)).slice(-10)) {
    const reply = await turn.ask('GET', `/posts/${post.id}`);
    turn.expect(reply, ...seen(turn, post, sight.since));
    if (reply.status === 200) sight.post(reply.answer?.body);
  }
  for (const link of [...world.tags.keys()].slice(-6)) {
    const { answer } = await turn.ask('GET', link);
    if (answer) sight.image(answer, link);
  }
  for (const person of world.people.filter(({ id }) => id !== undefined).slice(-12)) {
    const reply = await turn.ask('GET', `/profiles/${person.id}`);
    turn.expect(reply, person.profile.known ? 200 : 404);
    if (reply.status === 200) sight.profile(reply.answer?.body, person);
  }
  for (const list of [friends.listFriends, friends.listFriendRequests]) await list(turn);
}
