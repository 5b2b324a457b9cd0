import type { CheckedResponse } from '../../client/index.js';
import { expectEqual } from '../../expect.js';
import { idsOf, manyUsers, PRIVACIES, type VisibilityFixture, visibilityFixture } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { User } from '../../users.js';

/** Checks that a list has entries for these users, in ascending order of their ids. Returns the response. */
async function expectUsers({ send }: User, path: string, wanted: readonly number[]): Promise<CheckedResponse> {
  const response = await send(200, `GET ${path}`);
  const ascending = [...wanted].sort((one, other) => one - other);
  expectEqual(response, 'the users, by id', idsOf(response.body), ascending);
  return response;
}

/** Does the same as `expectUsers`, and checks that each entry equals the profile of its user. */
async function expectProfiles(user: User, path: string, wanted: readonly number[]): Promise<CheckedResponse> {
  const response = await expectUsers(user, path, wanted);
  for (const entry of response.body) {
    const profile = await user.send(200, `GET /profiles/${entry.id}`);
    expectEqual(response, 'the entry', entry, profile.body);
  }
  return response;
}

const ownerIds = ({ owned }: VisibilityFixture) => Object.values(owned).map(({ owner }) => owner.id);

export const friendListRules: Rule[] = [
  rule(
    'friends.list.entry',
    'An entry of GET /friends equals GET /profiles/{id}: the full profile, including that of a private account.',
    async (users) => {
      const fixture = await visibilityFixture(users);
      const { friend, friendOfFriend } = fixture.viewers;
      const response = await expectProfiles(friend, '/friends', [...ownerIds(fixture), friendOfFriend.id]);
      const privateIds = [fixture.owned.private, fixture.owned['was-public']].map(({ owner }) => owner.id);
      for (const entry of response.body) {
        expectEqual(response, 'private', entry.private, privateIds.includes(entry.id));
      }
    },
  ),

  rule(
    'friends.requests.entry',
    'An entry of GET /friends/requests equals GET /profiles/{id}: the full profile of a public account, otherwise only id, name and username.',
    async (users) => {
      const fixture = await visibilityFixture(users);
      const { owner, picture } = fixture.owned.public;
      const response = await expectProfiles(fixture.viewers.requested, '/friends/requests', ownerIds(fixture));
      const entry = response.body.find(({ id }: { id: number }) => id === owner.id);
      expectEqual(response, 'the picture of a public account', entry?.profile_link, picture);
    },
  ),

  rule(
    'friends.lists.complete',
    'GET /friends and GET /friends/requests are not divided into pages: they return all friends and all incoming requests.',
    async (users) => {
      const [user, others] = [await users.register(), await manyUsers(users)];
      await Promise.all(others.map(({ send }) => send(200, `POST /friends/request?to=${user.id}`)));
      await expectUsers(user, '/friends/requests', idsOf(others));
      await Promise.all(others.map(({ id }) => user.send(200, `POST /friends/accept?from=${id}`)));
      await expectUsers(user, '/friends', idsOf(others));
    },
  ),

  rule(
    'friends.lists.apart',
    'GET /friends returns friends only, and GET /friends/requests incoming requests only. If an account becomes private or public, no list gains or loses an entry.',
    async (users) => {
      const fixture = await visibilityFixture(users);
      const { viewers, owned } = fixture;
      for (const [user, friends, requests] of [
        [viewers.requester, [], []],
        [viewers.requested, [], ownerIds(fixture)],
        [viewers.formerFriend, [], []],
        [viewers.stranger, [], []],
        [viewers.friendOfFriend, [viewers.friend.id], []],
        ...PRIVACIES.map((privacy) => [owned[privacy].owner, [viewers.friend.id], [viewers.requester.id]] as const),
      ] as const) {
        await expectUsers(user, '/friends', friends);
        await expectUsers(user, '/friends/requests', requests);
      }
    },
  ),
];
