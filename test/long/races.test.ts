import t from 'tap';
import { samples } from '../../scripts/contract-test/images.js';
import { atOnce, openRaces, ROUNDS } from '../support/races.js';
import { createPost } from '../support/service.js';

const { racer, run } = await openRaces(t);

const picture = (kind: 'png' | 'jpeg') => new Blob([samples[kind]], { type: `image/${kind}` });

t.test('of requests to each other at once one is sent', async (t) => {
  await run(t, async () => {
    const [ada, bob] = [await racer(), await racer()];
    const statuses = await atOnce(
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
  t.test(`of acceptances and ${name} at once one succeeds`, async (t) => {
    let accepted = 0;
    await run(t, async () => {
      const [ada, bob] = [await racer(), await racer()];
      await ada.send('POST', `/friends/request?to=${bob.id}`);
      const statuses = await atOnce(
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

t.test('a friendship is ended once, and asked for anew once', async (t) => {
  await run(t, async () => {
    const [ada, bob] = [await racer(), await racer()];
    await ada.send('POST', `/friends/request?to=${bob.id}`);
    await bob.send('POST', `/friends/accept?from=${ada.id}`);
    const ended = await atOnce(
      () => ada.send('DELETE', `/friends/remove?id=${bob.id}`),
      () => bob.send('DELETE', `/friends/remove?id=${ada.id}`),
    );
    t.same(ended, [200, 404, 404, 404]);
    t.same(await atOnce(() => bob.send('POST', `/friends/request?to=${ada.id}`)), [200, 409]);
  });
});

t.test('of two edits at once one is what remains, whole', async (t) => {
  await run(t, async () => {
    const ada = await racer();
    const { id } = await createPost(ada, { image: picture('png') });
    const edit = (kind: 'png' | 'jpeg') => () =>
      ada.send('PUT', `/posts/edit?id=${id}`, { form: { title: kind, text: kind, image: picture(kind) } });
    t.same(await atOnce(edit('png'), edit('jpeg')), [200, 200, 200, 200]);
    const { body } = await ada.send('GET', `/posts/${id}`);
    t.equal(body.text, body.title);
    t.match(body.image, body.title === 'png' ? /\.png$/ : /\.jpe?g$/);
  });
});

t.test('of an edit with an image and deletions at once nothing is left', async (t) => {
  await run(t, async () => {
    const ada = await racer();
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

t.test('likes and a deletion at once leave no like', async (t) => {
  const crowd = await Promise.all(Array.from({ length: 6 }, () => racer()));
  await run(t, async () => {
    const ada = await racer();
    const { id } = await createPost(ada);
    const likes = crowd.map((fan) => fan.send('POST', `/posts/like?id=${id}`));
    const [deleted, ...rest] = await Promise.all([
      ada.send('DELETE', `/posts/delete?id=${id}`),
      ...likes,
      ...crowd.map((fan) => fan.send('POST', `/posts/like?id=${id}`)),
    ]);
    t.equal(deleted.status, 200);
    for (const { status } of rest) t.ok(status === 200 || status === 404, `a like: ${status}`);
  });
});

t.test('likes are counted once each, however often and wherever they are given', async (t) => {
  const crowd = await Promise.all(Array.from({ length: 4 }, () => racer()));
  await run(t, async () => {
    const ada = await racer();
    const { id } = await createPost(ada);
    const statuses = await atOnce(...crowd.map((fan) => () => fan.send('POST', `/posts/like?id=${id}`)));
    t.same(new Set(statuses), new Set([200]));
    t.equal((await ada.send('GET', `/posts/${id}`)).body.like_count, crowd.length);
  });
});

t.test('a like that is given and taken back at once is there or not, for everybody', async (t) => {
  await run(t, async () => {
    const [ada, fan] = [await racer(), await racer()];
    const { id } = await createPost(ada);
    const statuses = await atOnce(
      () => fan.send('POST', `/posts/like?id=${id}`),
      () => fan.send('DELETE', `/posts/like?id=${id}`),
    );
    t.same(statuses, [200, 200, 200, 200]);
    const { body } = await fan.send('GET', `/posts/${id}`);
    t.equal(body.like_count, body.liked_by_me ? 1 : 0);
  });
});
