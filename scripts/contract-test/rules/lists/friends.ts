import { expectEqual } from '../../expect.js';
import { crowd, idsOf, visibilityFixture } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';

/** Returns a copy of the ids in ascending order. */
const ascending = (ids: readonly number[]) => [...ids].sort((one, other) => one - other);

export const friendListRules: Rule[] = [
  rule(
    'friends.list.entry',
    'An entry of GET /friends equals GET /profiles/{id}: the full profile, including that of a private account.',
    async (users) => {
      const { viewers, owned } = await visibilityFixture(users);
      const response = await viewers.friend.send(200, 'GET /friends');
      const ids = idsOf(response.body);
      const wanted = [...Object.values(owned).map(({ owner }) => owner.id), viewers.friendOfFriend.id];
      expectEqual(response, 'the friends, by id', ids, ascending(wanted));
      for (const entry of response.body) {
        const profile = await viewers.friend.send(200, `GET /profiles/${entry.id}`);
        expectEqual(response, 'the entry', entry, profile.body);
        expectEqual(
          response,
          'private',
          entry.private,
          [owned.private, owned['was-public']].some(({ owner }) => owner.id === entry.id),
        );
      }
    },
  ),

  rule(
    'friends.requests.entry',
    'An entry of GET /friends/requests equals GET /profiles/{id}: the full profile of a public account, otherwise only id, name and username.',
    async (users) => {
      const { viewers, owned } = await visibilityFixture(users);
      const response = await viewers.requested.send(200, 'GET /friends/requests');
      const ids = idsOf(response.body);
      const wanted = Object.values(owned).map(({ owner }) => owner.id);
      expectEqual(response, 'the senders of requests, by id', ids, ascending(wanted));
      for (const entry of response.body) {
        const profile = await viewers.requested.send(200, `GET /profiles/${entry.id}`);
        expectEqual(response, 'the entry', entry, profile.body);
      }
      const open = response.body.find(({ id }: { id: number }) => id === owned.public.owner.id);
      expectEqual(response, 'the picture of a public account', open?.profile_link, owned.public.picture);
    },
  ),

  rule(
    'friends.lists.complete',
    'GET /friends and GET /friends/requests are not divided into pages: they return all friends and all incoming requests.',
    async (users) => {
      const [host, guests] = [await users.register(), await crowd(users)];
      const ids = ascending(idsOf(guests));
      await Promise.all(guests.map(({ send }) => send(200, `POST /friends/request?to=${host.id}`)));
      const requests = await host.send(200, 'GET /friends/requests');
      expectEqual(requests, 'the senders of requests', idsOf(requests.body), ids);
      await Promise.all(guests.map(({ id }) => host.send(200, `POST /friends/accept?from=${id}`)));
      const friends = await host.send(200, 'GET /friends');
      expectEqual(friends, 'the friends', idsOf(friends.body), ids);
    },
  ),

  rule(
    'friends.lists.apart',
    'GET /friends returns friends only, and GET /friends/requests incoming requests only.',
    async (users) => {
      const { viewers, owned } = await visibilityFixture(users);
      for (const [user, friends, requests] of [
        [viewers.requester, [], []],
        [viewers.requested, [], Object.values(owned).map(({ owner }) => owner.id)],
        [viewers.formerFriend, [], []],
        [viewers.stranger, [], []],
        [viewers.friendOfFriend, [viewers.friend.id], []],
        [owned.private.owner, [viewers.friend.id], [viewers.requester.id]],
      ] as const) {
        for (const [path, wanted] of [
          ['/friends', friends],
          ['/friends/requests', requests],
        ] as const) {
          const response = await user.send(200, `GET ${path}`);
          const ids = idsOf(response.body);
          expectEqual(response, 'the ids', ids, ascending(wanted));
        }
      }
    },
  ),
];
