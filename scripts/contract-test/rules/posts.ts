import { randomUUID } from 'node:crypto';
import { expectEqual, expectProblems, expectThat, fieldsOf } from '../expect.js';
import { type Post, png, privateProfile, publicProfile, publish } from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';

const FIELDS = 'author_id author_username created_at id image like_count liked_by_me text title';

/** A request to create a post that a retry repeats. */
const keyed = (key: string, form: Record<string, string | File> = { title: 'A title', text: 'A text' }) => ({
  form,
  headers: { 'Idempotency-Key': key },
});

const idsOf = (posts: Post[]) => posts.map(({ id }) => id);

export const posts: Subject = {
  name: 'Posts',
  rules: [
    rule(
      'posts.create.fields',
      'POST /posts/create returns 201 and the post with all its fields; title and text are stored verbatim.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const form = { title: ' A <b>title</b> 🐟', text: 'Line\r\nline\u00a0' };
        const answer = await ada.send(201, 'POST /posts/create', { form });
        expectEqual(answer, 'the fields', fieldsOf(answer.body), FIELDS);
        const { title, text, image, author_id, author_username, like_count, liked_by_me } = answer.body;
        expectEqual(answer, 'title and text, stored as sent', { title, text }, form);
        expectEqual(answer, 'author', [author_id, author_username], [ada.id, ada.username]);
        expectEqual(answer, 'image and likes', [image, like_count, liked_by_me], [null, 0, false]);
      },
    ),

    rule(
      'posts.create.author-id',
      'author_id is always taken from the token; a client must not send it.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const form = { title: 'A title', text: 'A text', author_id: String(ada.id) };
        expectProblems(await ada.send(400, 'POST /posts/create', { form }), 'body.author_id');
      },
    ),

    rule('posts.create.created-at', 'created_at is in RFC 3339, UTC, with milliseconds.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      const answer = await send(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text' } });
      expectThat(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(answer.body.created_at),
        'created_at with milliseconds in UTC',
        answer,
      );
    }),

    rule('posts.create.blank', 'Title and text are not blank.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      expectProblems(
        await send(400, 'POST /posts/create', { form: { title: ' \u3000', text: '\n\t' } }),
        'body.text',
        'body.title',
      );
    }),

    rule('posts.create.required-fields', 'Title and text are required to create a post.', async (cast) => {
      const { send } = await cast.sharedUser('ada');
      expectProblems(await send(400, 'POST /posts/create'), 'body.text', 'body.title');
      expectProblems(await send(400, 'POST /posts/create', { form: { title: 'A title' } }), 'body.text');
    }),

    rule('posts.get.fields', 'GET /posts/{id} returns 200 and the post with comments: [].', async (cast) => {
      const ada = await cast.sharedUser('ada');
      const post = await publish(ada);
      const answer = await ada.send(200, `GET /posts/${post.id}`);
      expectEqual(answer, 'the post', answer.body, { ...post, comments: [] });
    }),

    rule(
      'posts.get.missing',
      'GET /posts/{id} returns 404 for a missing post and for an id that is not well formed.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        for (const id of ['9007199254740991', '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00'])
          await send(404, `GET /posts/${id}`);
      },
    ),

    rule(
      'posts.list.newest-first',
      'GET /posts returns 200 and the visible posts, newest first: by created_at, then by id.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const written = [await publish(ada), await publish(ada), await publish(ada)];
        const answer = await ada.send(200, 'GET /posts?limit=100');
        const keys = answer.body.map(({ created_at, id }: Post) => `${created_at} ${String(id).padStart(16, '0')}`);
        expectEqual(answer, 'the order, created_at and then id', keys, [...keys].sort().reverse());
        const mine = idsOf(answer.body).filter((id) => idsOf(written).includes(id));
        expectEqual(answer, 'the three last written', mine, idsOf(written).reverse());
        for (const post of answer.body) expectEqual(answer, 'the fields of an entry', fieldsOf(post), FIELDS);
      },
    ),

    rule(
      'posts.list-own.own-posts',
      'GET /posts/me returns 200 and only posts of the authenticated user, newest first.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const written = [await publish(ada), await publish(ada)];
        const answer = await ada.send(200, 'GET /posts/me?limit=100');
        expectThat(
          answer.body.every(({ author_id }: Post) => author_id === ada.id),
          'posts of the caller alone',
          answer,
        );
        const mine = idsOf(answer.body).filter((id) => idsOf(written).includes(id));
        expectEqual(answer, 'the two last written', mine, idsOf(written).reverse());
      },
    ),

    rule(
      'posts.list-own.private-account',
      'GET /posts/me returns the posts of a private account to its owner.',
      async (cast) => {
        const { owner, post } = await privateProfile(cast);
        const answer = await owner.send(200, 'GET /posts/me');
        expectThat(idsOf(answer.body).includes(post.id), 'the post of the private account', answer);
      },
    ),

    rule(
      'posts.edit.changes-sent-fields',
      'PUT /posts/edit returns 200 and the updated post: it changes the fields that are sent and leaves the others.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const post = await publish(ada);
        const answer = await ada.send(200, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Another' } });
        expectEqual(answer, 'the post', answer.body, { ...post, title: 'Another' });
        const read = await ada.send(200, `GET /posts/${post.id}`);
        expectEqual(read, 'the post as read', read.body, { ...post, title: 'Another', comments: [] });
      },
    ),

    rule(
      'posts.edit.nothing-to-change',
      'An edit that changes nothing returns 400: no field, or remove_image=false alone.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const { id } = await publish(ada);
        expectProblems(await ada.send(400, `PUT /posts/edit?id=${id}`, { form: { remove_image: 'false' } }), 'body.');
        await ada.send(400, `PUT /posts/edit?id=${id}`);
        await ada.send(200, `PUT /posts/edit?id=${id}`, { form: { title: 'A title' } });
      },
    ),

    rule(
      'posts.edit.author-only',
      'PUT /posts/edit requires that the authenticated user is the author.',
      async (cast) => {
        const { owner, visitor, post } = await publicProfile(cast);
        await visitor.send(404, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Mine now' } });
        expectEqual(
          await owner.send(200, `GET /posts/${post.id}`),
          'the title',
          (await owner.send(200, `GET /posts/${post.id}`)).body.title,
          post.title,
        );
      },
    ),

    rule(
      'posts.delete.author-only',
      'DELETE /posts/delete requires that the authenticated user is the author.',
      async (cast) => {
        const { owner, visitor, post } = await publicProfile(cast);
        await visitor.send(404, `DELETE /posts/delete?id=${post.id}`);
        await owner.send(200, `GET /posts/${post.id}`);
      },
    ),

    rule(
      'posts.edit.refusals-are-alike',
      'Editing and deleting a post that is missing, hidden or another user’s returns 404 with the same body.',
      async (cast) => {
        const { visitor, post } = await publicProfile(cast);
        const hidden = (await privateProfile(cast)).post;
        const bodies = [];
        for (const id of [9007199254740991, hidden.id, post.id]) {
          bodies.push((await visitor.send(404, `PUT /posts/edit?id=${id}`, { form: { title: 'Mine now' } })).body);
          bodies.push((await visitor.send(404, `DELETE /posts/delete?id=${id}`)).body);
        }
        const answer = await visitor.send(404, 'GET /posts/9007199254740991');
        for (const body of bodies) expectEqual(answer, 'the body', body, bodies[0]);
      },
    ),

    rule(
      'posts.delete.success',
      'DELETE /posts/delete returns 200 and removes the post for everybody.',
      async (cast) => {
        const [ada, ben] = [await cast.sharedUser('ada'), await cast.sharedUser('ben')];
        const { id } = await publish(ada);
        await ada.send(200, `DELETE /posts/delete?id=${id}`);
        for (const { send } of [ada, ben]) await send(404, `GET /posts/${id}`);
        const feed = await ben.send(200, 'GET /posts?limit=100');
        expectThat(!idsOf(feed.body).includes(id), 'a feed without the deleted post', feed);
        await ada.send(404, `DELETE /posts/delete?id=${id}`);
        for (const method of ['POST', 'DELETE']) await ben.send(404, `${method} /posts/like?id=${id}`);
      },
    ),

    rule('posts.delete.image', 'Deleting a post removes its stored image.', async (cast) => {
      const ada = await cast.sharedUser('ada');
      const { id, image } = await publish(ada, { image: png() });
      await ada.send(200, `GET ${image}`);
      await ada.send(200, `DELETE /posts/delete?id=${id}`);
      await ada.send(404, `GET ${image}`);
    }),

    rule(
      'posts.idempotency-key.same-form',
      'The same Idempotency-Key with the same form returns the first response again, also after the post was edited or deleted.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const sent = keyed(randomUUID(), { title: 'A title', text: 'A text', image: png() });
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
      'The same Idempotency-Key with another form returns 422. Neither this nor a retry creates a post.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const key = randomUUID();
        // Other rules create posts of the same user meanwhile.
        const title = `A title ${key}`;
        const form = { title, text: 'A text', image: png() };
        const { body } = await ada.send(201, 'POST /posts/create', keyed(key, form));
        await ada.send(201, 'POST /posts/create', keyed(key, form));
        for (const other of [
          { ...form, title: `${title}, another` },
          { ...form, text: 'Another text' },
          { title, text: 'A text' },
          { ...form, image: new File([samples.png.subarray(0, -1)], form.image.name, { type: form.image.type }) },
        ]) {
          await ada.send(422, 'POST /posts/create', keyed(key, other));
        }
        const answer = await ada.send(200, 'GET /posts/me?limit=100');
        const posts: Post[] = answer.body.filter((post: Post) => post.title.startsWith(title));
        expectEqual(answer, 'the posts with this title', idsOf(posts), [body.id]);
      },
    ),

    rule(
      'posts.idempotency-key.concurrent',
      'Concurrent requests with the same Idempotency-Key create one post: each returns the first response, or 409 while it is in progress.',
      async (cast) => {
        const ada = await cast.sharedUser('ada');
        const title = `A title ${randomUUID()}`;
        const sent = keyed(randomUUID(), { title, text: 'A text', image: png() });
        const answers = await Promise.all(
          Array.from({ length: 4 }, () => ada.send([201, 409], 'POST /posts/create', sent)),
        );
        const { body } = await ada.send(201, 'POST /posts/create', sent);
        for (const answer of answers.filter(({ status }) => status === 201))
          expectEqual(answer, 'id', answer.body.id, body.id);
        const list = await ada.send(200, 'GET /posts/me?limit=100');
        expectEqual(list, 'the posts with this title', idsOf(list.body.filter((post: Post) => post.title === title)), [
          body.id,
        ]);
      },
    ),

    rule(
      'posts.idempotency-key.per-account',
      'An Idempotency-Key belongs to the account that sent it.',
      async (cast) => {
        const [ada, ben] = [await cast.sharedUser('ada'), await cast.sharedUser('ben')];
        const key = randomUUID();
        const first = await ada.send(201, 'POST /posts/create', keyed(key));
        const other = await ben.send(201, 'POST /posts/create', keyed(key));
        expectThat(other.body.id !== first.body.id, 'a post of its own', other);
      },
    ),

    rule(
      'posts.idempotency-key.syntax',
      'An Idempotency-Key has 1 to 255 visible ASCII characters and is sent once; anything else returns 400.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        for (const key of ['', 'k'.repeat(256), 'a b', 'a\tb', '\u00e4', 'k, k']) {
          expectProblems(await send(400, 'POST /posts/create', keyed(key)), 'header.Idempotency-Key');
        }
        const sent = keyed('a b', { title: ' ', text: 'A text' });
        const wanted = ['body.title', 'header.Idempotency-Key', 'query.page'];
        expectProblems(await send(400, 'POST /posts/create?page=1', sent), ...wanted);
        await send(201, 'POST /posts/create', keyed(randomUUID().padEnd(255, '!"~')));
      },
    ),

    rule(
      'posts.idempotency-key.refused-form',
      'A form that was refused leaves its Idempotency-Key unused.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        const key = randomUUID();
        await send(400, 'POST /posts/create', keyed(key, { title: ' ', text: 'A text' }));
        await send(201, 'POST /posts/create', keyed(key));
      },
    ),
  ],
};
