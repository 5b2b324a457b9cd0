import { randomUUID } from 'node:crypto';
import { expectEqual, expectProblems, expectThat, expectTimestamp, fieldsOf } from '../expect.js';
import { idsOf, type Post, png, privateProfile, publicProfile, publish, UNUSED_ID } from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';

const POST_FIELDS = 'author_id author_username created_at id image like_count liked_by_me text title';

/** Returns the options of a request to create a post with an Idempotency-Key. */
const withKey = (key: string, form: Record<string, string | File> = { title: 'A title', text: 'A text' }) => ({
  form,
  headers: { 'Idempotency-Key': key },
});

export const posts: Subject = {
  name: 'Posts',
  rules: [
    rule(
      'posts.create.fields',
      'POST /posts/create returns 201 and the post with all its fields; title and text are stored verbatim.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const form = { title: ' A <b>title</b> 🐟', text: 'Line\r\nline\u00a0' };
        const response = await ada.send(201, 'POST /posts/create', { form });
        expectEqual(response, 'the fields', fieldsOf(response.body), POST_FIELDS);
        const { title, text, image, author_id, author_username, like_count, liked_by_me } = response.body;
        expectEqual(response, 'title and text, stored as sent', { title, text }, form);
        expectEqual(response, 'author', [author_id, author_username], [ada.id, ada.username]);
        expectEqual(response, 'image and likes', [image, like_count, liked_by_me], [null, 0, false]);
      },
    ),

    rule(
      'posts.create.author-id',
      'The author of a new post is the authenticated user; a request that sends author_id returns 400.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const form = { title: 'A title', text: 'A text', author_id: String(ada.id) };
        expectProblems(await ada.send(400, 'POST /posts/create', { form }), 'body.author_id');
      },
    ),

    rule(
      'posts.create.created-at',
      'created_at of a post is in RFC 3339 format, in UTC with milliseconds.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const response = await send(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text' } });
        expectTimestamp(response, 'created_at', response.body.created_at);
      },
    ),

    rule('posts.create.blank', 'A post with a blank title or a blank text returns 400.', async (users) => {
      const { send } = await users.sharedUser('ada');
      expectProblems(
        await send(400, 'POST /posts/create', { form: { title: ' \u3000', text: '\n\t' } }),
        'body.text',
        'body.title',
      );
    }),

    rule('posts.create.required-fields', 'Title and text are required to create a post.', async (users) => {
      const { send } = await users.sharedUser('ada');
      expectProblems(await send(400, 'POST /posts/create'), 'body.text', 'body.title');
      expectProblems(await send(400, 'POST /posts/create', { form: { title: 'A title' } }), 'body.text');
    }),

    rule('posts.get.fields', 'GET /posts/{id} returns 200 and the post with comments: [].', async (users) => {
      const ada = await users.sharedUser('ada');
      const post = await publish(ada);
      const response = await ada.send(200, `GET /posts/${post.id}`);
      expectEqual(response, 'the post', response.body, { ...post, comments: [] });
    }),

    rule(
      'posts.get.missing',
      'GET /posts/{id} returns 404 for a missing post and for an id that is not well formed.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const id of [UNUSED_ID, '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00'])
          await send(404, `GET /posts/${id}`);
      },
    ),

    rule(
      'posts.list.newest-first',
      'GET /posts returns 200 and the visible posts, newest first: by created_at, then by id.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const published = [await publish(ada), await publish(ada), await publish(ada)];
        const response = await ada.send(200, 'GET /posts?limit=100');
        const keys = response.body.map(({ created_at, id }: Post) => `${created_at} ${String(id).padStart(16, '0')}`);
        expectEqual(response, 'the order, created_at and then id', keys, [...keys].sort().reverse());
        const found = idsOf(response.body).filter((id) => idsOf(published).includes(id));
        expectEqual(response, 'the three newest posts', found, idsOf(published).reverse());
        for (const post of response.body) expectEqual(response, 'the fields of an entry', fieldsOf(post), POST_FIELDS);
      },
    ),

    rule(
      'posts.list-own.own-posts',
      'GET /posts/me returns 200 and only posts of the authenticated user, newest first.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const published = [await publish(ada), await publish(ada)];
        const response = await ada.send(200, 'GET /posts/me?limit=100');
        expectThat(
          response.body.every(({ author_id }: Post) => author_id === ada.id),
          'only posts of the authenticated user',
          response,
        );
        const found = idsOf(response.body).filter((id) => idsOf(published).includes(id));
        expectEqual(response, 'the two newest posts', found, idsOf(published).reverse());
      },
    ),

    rule(
      'posts.list-own.private-account',
      'GET /posts/me returns the posts of a private account to its owner.',
      async (users) => {
        const { owner, post } = await privateProfile(users);
        const response = await owner.send(200, 'GET /posts/me');
        expectThat(idsOf(response.body).includes(post.id), 'the post of the private account', response);
      },
    ),

    rule(
      'posts.edit.changes-sent-fields',
      'PUT /posts/edit returns 200 and the updated post. It changes the fields that are sent and leaves the others unchanged.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const post = await publish(ada);
        const response = await ada.send(200, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Another' } });
        expectEqual(response, 'the post', response.body, { ...post, title: 'Another' });
        const read = await ada.send(200, `GET /posts/${post.id}`);
        expectEqual(read, 'the post as read', read.body, { ...post, title: 'Another', comments: [] });
      },
    ),

    rule(
      'posts.edit.nothing-to-change',
      'PUT /posts/edit returns 400 if no field is sent, or only remove_image=false.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const { id } = await publish(ada);
        expectProblems(await ada.send(400, `PUT /posts/edit?id=${id}`, { form: { remove_image: 'false' } }), 'body.');
        await ada.send(400, `PUT /posts/edit?id=${id}`);
        await ada.send(200, `PUT /posts/edit?id=${id}`, { form: { title: 'A title' } });
      },
    ),

    rule(
      'posts.edit.author-only',
      'PUT /posts/edit returns 404 if the authenticated user is not the author.',
      async (users) => {
        const { owner, visitor, post } = await publicProfile(users);
        await visitor.send(404, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Mine now' } });
        const response = await owner.send(200, `GET /posts/${post.id}`);
        expectEqual(response, 'the title', response.body.title, post.title);
      },
    ),

    rule(
      'posts.delete.author-only',
      'DELETE /posts/delete returns 404 if the authenticated user is not the author.',
      async (users) => {
        const { owner, visitor, post } = await publicProfile(users);
        await visitor.send(404, `DELETE /posts/delete?id=${post.id}`);
        await owner.send(200, `GET /posts/${post.id}`);
      },
    ),

    rule(
      'posts.edit.refusals-are-alike',
      'Editing or deleting a post that is missing, hidden or another user’s returns 404, always with the same body.',
      async (users) => {
        const { visitor, post } = await publicProfile(users);
        const hidden = (await privateProfile(users)).post;
        const bodies = [];
        for (const id of [UNUSED_ID, hidden.id, post.id]) {
          bodies.push((await visitor.send(404, `PUT /posts/edit?id=${id}`, { form: { title: 'Mine now' } })).body);
          bodies.push((await visitor.send(404, `DELETE /posts/delete?id=${id}`)).body);
        }
        const response = await visitor.send(404, `GET /posts/${UNUSED_ID}`);
        for (const body of bodies) expectEqual(response, 'the body', body, bodies[0]);
      },
    ),

    rule(
      'posts.delete.success',
      'DELETE /posts/delete returns 200 and removes the post for all users.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const { id } = await publish(ada);
        await ada.send(200, `DELETE /posts/delete?id=${id}`);
        for (const { send } of [ada, ben]) await send(404, `GET /posts/${id}`);
        const feed = await ben.send(200, 'GET /posts?limit=100');
        expectThat(!idsOf(feed.body).includes(id), 'a feed without the deleted post', feed);
        await ada.send(404, `DELETE /posts/delete?id=${id}`);
        for (const method of ['POST', 'DELETE']) await ben.send(404, `${method} /posts/like?id=${id}`);
      },
    ),

    rule('posts.delete.image', 'Deleting a post removes its stored image.', async (users) => {
      const ada = await users.sharedUser('ada');
      const { id, image } = await publish(ada, { image: png() });
      await ada.send(200, `GET ${image}`);
      await ada.send(200, `DELETE /posts/delete?id=${id}`);
      await ada.send(404, `GET ${image}`);
    }),

    rule(
      'posts.idempotency-key.same-form',
      'The same Idempotency-Key with the same form returns the first response again, even after the post was edited or deleted.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const sent = withKey(randomUUID(), { title: 'A title', text: 'A text', image: png() });
        const first = await ada.send(201, 'POST /posts/create', sent);
        const retry = await ada.send(201, 'POST /posts/create', sent);
        expectEqual(retry, 'the response', retry.body, first.body);
        const edit = { form: { title: 'Edited', remove_image: 'true' } };
        await ada.send(200, `PUT /posts/edit?id=${first.body.id}`, edit);
        expectEqual(retry, 'the response', (await ada.send(201, 'POST /posts/create', sent)).body, first.body);
        await ada.send(200, `DELETE /posts/delete?id=${first.body.id}`);
        const late = await ada.send(201, 'POST /posts/create', sent);
        expectEqual(late, 'the response', late.body, first.body);
        await ada.send(404, `GET /posts/${first.body.id}`);
      },
    ),

    rule(
      'posts.idempotency-key.other-form',
      'The same Idempotency-Key with a different form returns 422. Neither this nor a retry creates another post.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const key = randomUUID();
        // Other rules create posts of the same user at the same time.
        const title = `A title ${key}`;
        const form = { title, text: 'A text', image: png() };
        const { body } = await ada.send(201, 'POST /posts/create', withKey(key, form));
        await ada.send(201, 'POST /posts/create', withKey(key, form));
        for (const other of [
          { ...form, title: `${title}, another` },
          { ...form, text: 'Another text' },
          { title, text: 'A text' },
          { ...form, image: new File([samples.png.subarray(0, -1)], form.image.name, { type: form.image.type }) },
        ]) {
          await ada.send(422, 'POST /posts/create', withKey(key, other));
        }
        const response = await ada.send(200, 'GET /posts/me?limit=100');
        const posts: Post[] = response.body.filter((post: Post) => post.title.startsWith(title));
        expectEqual(response, 'the posts with this title', idsOf(posts), [body.id]);
      },
    ),

    rule(
      'posts.idempotency-key.concurrent',
      'Concurrent requests with the same Idempotency-Key create one post: each returns the first response, or 409 while it is in progress.',
      async (users) => {
        const ada = await users.sharedUser('ada');
        const title = `A title ${randomUUID()}`;
        const sent = withKey(randomUUID(), { title, text: 'A text', image: png() });
        const responses = await Promise.all(
          Array.from({ length: 4 }, () => ada.send([201, 409], 'POST /posts/create', sent)),
        );
        const { body } = await ada.send(201, 'POST /posts/create', sent);
        for (const response of responses.filter(({ status }) => status === 201))
          expectEqual(response, 'id', response.body.id, body.id);
        const list = await ada.send(200, 'GET /posts/me?limit=100');
        expectEqual(list, 'the posts with this title', idsOf(list.body.filter((post: Post) => post.title === title)), [
          body.id,
        ]);
      },
    ),

    rule(
      'posts.idempotency-key.per-account',
      'An Idempotency-Key belongs to the account that sent it: the same key of another account creates another post.',
      async (users) => {
        const [ada, ben] = [await users.sharedUser('ada'), await users.sharedUser('ben')];
        const key = randomUUID();
        const first = await ada.send(201, 'POST /posts/create', withKey(key));
        const other = await ben.send(201, 'POST /posts/create', withKey(key));
        expectThat(other.body.id !== first.body.id, 'another post', other);
      },
    ),

    rule(
      'posts.idempotency-key.syntax',
      'An Idempotency-Key has 1 to 255 visible ASCII characters and is sent at most once; otherwise the request returns 400.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        for (const key of ['', 'k'.repeat(256), 'a b', 'a\tb', '\u00e4', 'k, k']) {
          expectProblems(await send(400, 'POST /posts/create', withKey(key)), 'header.Idempotency-Key');
        }
        const sent = withKey('a b', { title: ' ', text: 'A text' });
        const wanted = ['body.title', 'header.Idempotency-Key', 'query.page'];
        expectProblems(await send(400, 'POST /posts/create?page=1', sent), ...wanted);
        await send(201, 'POST /posts/create', withKey(randomUUID().padEnd(255, '!"~')));
      },
    ),

    rule(
      'posts.idempotency-key.refused-form',
      'A request that returned 400 does not use up its Idempotency-Key.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        const key = randomUUID();
        await send(400, 'POST /posts/create', withKey(key, { title: ' ', text: 'A text' }));
        await send(201, 'POST /posts/create', withKey(key));
      },
    ),
  ],
};
