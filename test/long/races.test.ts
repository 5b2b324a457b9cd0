import t from 'tap';
import { picture } from '../support/picture.js';
import { openRaces, ROUNDS, sendTwiceConcurrently } from '../support/races.js';
import { createPost } from '../support/service.js';

const { createUser, run } = await openRaces(t);

t.test('of two concurrent friend requests to each other one succeeds', async (t) => {
  await run(t, async () => {
    const [ada, bob] = [await createUser(), await createUser()];
    const statuses = await sendTwiceConcurrently(
      () => ada.send('POST', `/friends/request?to=${bob.id}`),
      () => bob.send('POST', `/create_relationship?me=${bob.id}&them=${ada.id}`),
    );
    t.same(statuses, [200, 409, 409, 409]);
  });
});

for (const [name, withdraw] of [
  ['cancellations', 'cancel'],
  ['rejections', 'decline'],
] as const) {
  t.test(`of concurrent acceptances and ${name} one succeeds`, async (t) => {
    let accepted = 0;
    await run(t, async () => {
      const [ada, bob] = [await createUser(), await createUser()];
      await ada.send('POST', `/friends/request?to=${bob.id}`);
      const statuses = await sendTwiceConcurrently(
        () => bob.send('POST', `/friends/accept?from=${ada.id}`),
        withdraw === 'cancel'
          ? () => ada.send('POST', `/friends/cancel?to=${bob.id}`)
          : () => bob.send('POST', `/friends/decline?from=${ada.id}`),
      );
      t.same(statuses, [200, 404, 404, 404]);
      if ((await ada.send('GET', '/friends')).body.length > 0) accepted += 1;
    });
    t.comment(`${accepted} of ${ROUNDS} were accepted`);
  });
}

t.test('a friendship is ended once, and requested again once', async (t) => {
  await run(t, async () => {
    const [ada, bob] = [await createUser(), await createUser()];
    await ada.send('POST', `/friends/request?to=${bob.id}`);
    await bob.send('POST', `/friends/accept?from=${ada.id}`);
    const ended = await sendTwiceConcurrently(
      () => ada.send('DELETE', `/friends/remove?id=${bob.id}`),
      () => bob.send('DELETE', `/friends/remove?id=${ada.id}`),
    );
    t.same(ended, [200, 404, 404, 404]);
    t.same(await sendTwiceConcurrently(() => bob.send('POST', `/friends/request?to=${ada.id}`)), [200, 409]);
  });
});

t.test('of two concurrent edits one remains, complete', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada, { image: picture('png') });
    const edit = (kind: 'png' | 'jpeg') => () =>
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { title: kind, text: kind, image: picture(kind) } });
    t.same(await sendTwiceConcurrently(edit('png'), edit('jpeg')), [200, 200, 200, 200]);
    const { body } = await ada.send('GET', `/posts/${id}`);
    t.equal(body.text, body.title);
    t.match(body.image, body.title === 'png' ? /\.png$/ : /\.jpe?g$/);
  });
});

t.test('concurrent edits and deletions leave nothing', async (t) => {
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada, { image: picture('png') });
    const [first, second, ...deletions] = await Promise.all([
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { image: picture('jpeg') } }),
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { remove_image: 'true' } }),
      ada.send('DELETE', `/posts/delete?id=${id}`),
      ada.send('DELETE', `/posts/delete?id=${id}`),
    ]);
    for (const { status } of [first, second]) t.ok(status === 200 || status === 404, `an edit: ${status}`);
    t.same(deletions.map(({ status }) => status).sort(), [200, 404]);
  });
});

t.test('concurrent likes and a deletion leave no like', async (t) => {
  const fans = await Promise.all(Array.from({ length: 6 }, () => createUser()));
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada);
    const likes = fans.map((fan) => fan.send('POST', `/posts/like?id=${id}`));
    const [deleted, ...rest] = await Promise.all([
      ada.send('DELETE', `/posts/delete?id=${id}`),
      ...likes,
      ...fans.map((fan) => fan.send('POST', `/posts/like?id=${id}`)),
    ]);
    t.equal(deleted.status, 200);
    for (const { status } of rest) t.ok(status === 200 || status === 404, `a like: ${status}`);
  });
});

t.test('a like counts once, even if it is sent repeatedly to several processes', async (t) => {
  const fans = await Promise.all(Array.from({ length: 4 }, () => createUser()));
  await run(t, async () => {
    const ada = await createUser();
    const { id } = await createPost(ada);
    const statuses = await sendTwiceConcurrently(...fans.map((fan) => () => fan.send('POST', `/posts/like?id=${id}`)));
    t.same(new Set(statuses), new Set([200]));
    t.equal((await ada.send('GET', `/posts/${id}`)).body.like_count, fans.length);
  });
});

t.test('concurrently liking and unliking a post leaves a consistent like count', async (t) => {
  await run(t, async () => {
    const [ada, fan] = [await createUser(), await createUser()];
    const { id } = await createPost(ada);
    const statuses = await sendTwiceConcurrently(
      () => fan.send('POST', `/posts/like?id=${id}`),
      () => fan.send('DELETE', `/posts/like?id=${id}`),
    );
    t.same(statuses, [200, 200, 200, 200]);
    const { body } = await fan.send('GET', `/posts/${id}`);
    t.equal(body.like_count, body.liked_by_me ? 1 : 0);
  });
});
