import { fieldsOf, problems, rule, type Subject, same, want } from '../rule.js';
import { openHouse, type Post, png, publish, seclusion } from '../scenes.js';

const CREATE = 'Posts, POST /posts/create';
const EDIT = 'Posts, PUT /posts/edit';
const DELETE = 'Posts, DELETE /posts/delete';
const FIELDS = 'author_id author_username created_at id image like_count liked_by_me text title';

const idsOf = (posts: Post[]) => posts.map(({ id }) => id);

export const posts: Subject = {
  name: 'Posts',
  rules: [
    rule(CREATE, '201 post', async (cast) => {
      const ada = await cast.person('ada');
      const form = { title: ' A <b>title</b> 🐟', text: 'Line\r\nline\u00a0' };
      const answer = await ada.ask(201, 'POST /posts/create', { form });
      same(answer, 'the fields', fieldsOf(answer.body), FIELDS);
      const { title, text, image, author_id, author_username, like_count, liked_by_me } = answer.body;
      same(answer, 'title and text, stored as sent', { title, text }, form);
      same(answer, 'author', [author_id, author_username], [ada.id, ada.username]);
      same(answer, 'image and likes', [image, like_count, liked_by_me], [null, 0, false]);
    }),

    rule('Post, author_id', 'always taken from the token; a client must not send it', async (cast) => {
      const ada = await cast.person('ada');
      const form = { title: 'A title', text: 'A text', author_id: String(ada.id) };
      problems(await ada.ask(400, 'POST /posts/create', { form }), 'body.author_id');
    }),

    rule('Post, created_at', 'RFC 3339, UTC, milliseconds: about now', async (cast) => {
      const { ask } = await cast.person('ada');
      const answer = await ask(201, 'POST /posts/create', { form: { title: 'A title', text: 'A text' } });
      want(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(answer.body.created_at),
        'created_at with milliseconds in UTC',
        answer,
      );
    }),

    rule('Rules', 'Title 1–200 characters, text 1–10,000 characters', async (cast) => {
      const ada = await cast.person('ada');
      const long = { title: 't'.repeat(201), text: 't'.repeat(10_001) };
      problems(await ada.ask(400, 'POST /posts/create', { form: long }), 'body.text', 'body.title');
      problems(await ada.ask(400, 'POST /posts/create', { form: { title: '', text: '' } }), 'body.text', 'body.title');
      await publish(ada, { title: '🐟'.repeat(200), text: '🐟'.repeat(10_000) });
    }),

    rule('Rules', 'title and text are not blank', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(
        await ask(400, 'POST /posts/create', { form: { title: ' \u3000', text: '\n\t' } }),
        'body.text',
        'body.title',
      );
    }),

    rule('Post', 'title and text: supplied on create', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'POST /posts/create'), 'body.text', 'body.title');
      problems(await ask(400, 'POST /posts/create', { form: { title: 'A title' } }), 'body.text');
    }),

    rule('Posts, GET /posts/:id', '200 post with comments: []', async (cast) => {
      const ada = await cast.person('ada');
      const post = await publish(ada);
      const answer = await ada.ask(200, `GET /posts/${post.id}`);
      same(answer, 'the post', answer.body, { ...post, comments: [] });
    }),

    rule('Posts, GET /posts/:id', '404 if missing', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const id of ['9007199254740991', '0', '-1', 'abc', '1e3', '01', '9007199254740993', '%00'])
        await ask(404, `GET /posts/${id}`);
    }),

    rule('Posts, GET /posts', '200 visible posts, newest first', async (cast) => {
      const ada = await cast.person('ada');
      const written = [await publish(ada), await publish(ada), await publish(ada)];
      const answer = await ada.ask(200, 'GET /posts?limit=100');
      const keys = answer.body.map(({ created_at, id }: Post) => `${created_at} ${String(id).padStart(16, '0')}`);
      same(answer, 'the order, created_at and then id', keys, [...keys].sort().reverse());
      const mine = idsOf(answer.body).filter((id) => idsOf(written).includes(id));
      same(answer, 'the three last written', mine, idsOf(written).reverse());
      for (const post of answer.body) same(answer, 'the fields of an entry', fieldsOf(post), FIELDS);
    }),

    rule('Posts, GET /posts/me', '200 only posts whose author is the caller, newest first', async (cast) => {
      const ada = await cast.person('ada');
      const written = [await publish(ada), await publish(ada)];
      const answer = await ada.ask(200, 'GET /posts/me?limit=100');
      want(
        answer.body.every(({ author_id }: Post) => author_id === ada.id),
        'posts of the caller alone',
        answer,
      );
      const mine = idsOf(answer.body).filter((id) => idsOf(written).includes(id));
      same(answer, 'the two last written', mine, idsOf(written).reverse());
    }),

    rule('Posts, GET /posts/me', 'including private-account posts', async (cast) => {
      const { owner, post } = await seclusion(cast);
      const answer = await owner.ask(200, 'GET /posts/me');
      want(idsOf(answer.body).includes(post.id), 'the post of the private account', answer);
    }),

    rule('Limits', 'limit query: 1-100, default 20', async (cast) => {
      const { ask } = await cast.person('ada');
      const ask20 = await ask(200, 'GET /posts');
      want(ask20.body.length <= 20, 'at most 20 posts without a limit', ask20);
      const one = await ask(200, 'GET /posts?limit=1');
      want(one.body.length <= 1, 'at most one post', one);
      for (const path of ['/posts', '/posts/me']) {
        for (const limit of ['0', '101', '-1', '1.5', '1e1', '01', 'ten', '']) {
          problems(await ask(400, `GET ${path}?limit=${limit}`), 'query.limit');
        }
      }
    }),

    rule('Limits', 'offset query: default 0', async (cast) => {
      const { owner: ada } = await openHouse(cast);
      for (let count = 0; count < 3; count++) await publish(ada);
      const all = await ada.ask(200, 'GET /posts/me?limit=3');
      const second = await ada.ask(200, 'GET /posts/me?limit=1&offset=1');
      same(second, 'the second post', idsOf(second.body), idsOf(all.body).slice(1, 2));
      const zero = await ada.ask(200, 'GET /posts/me?limit=3&offset=0');
      same(zero, 'offset 0', idsOf(zero.body), idsOf(all.body));
      const beyond = await ada.ask(200, 'GET /posts/me?offset=2147483647');
      same(beyond, 'beyond the end', beyond.body, []);
    }),

    rule('Representation, ids', 'offset is at most 2147483647', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const offset of ['-1', '2147483648', 'x'])
        problems(await ask(400, `GET /posts?offset=${offset}`), 'query.offset');
    }),

    rule('Beyond the contract', 'Link: rel="next" while there is more', async (cast) => {
      const { owner: cleo } = await openHouse(cast);
      for (let count = 0; count < 2; count++) await publish(cleo);
      const first = await cleo.ask(200, 'GET /posts/me?limit=1');
      const [, next] = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? [];
      want(next, 'a Link to the next page', first);
      const { pathname, search } = new URL(next, 'http://base');
      const second = await cleo.ask(200, `GET ${pathname}${search}`);
      const both = await cleo.ask(200, 'GET /posts/me?limit=2');
      same(second, 'the next post', idsOf(second.body), idsOf(both.body).slice(1));
      const last = await cleo.ask(200, 'GET /posts/me?limit=100');
      want(last.body.length === 100 || !last.headers.has('link'), 'no Link on the last page', last);
    }),

    rule(EDIT, '200 updated post: what is sent changes, the rest stays', async (cast) => {
      const ada = await cast.person('ada');
      const post = await publish(ada);
      const answer = await ada.ask(200, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Another' } });
      same(answer, 'the post', answer.body, { ...post, title: 'Another' });
      const read = await ada.ask(200, `GET /posts/${post.id}`);
      same(read, 'the post as read', read.body, { ...post, title: 'Another', comments: [] });
    }),

    rule(EDIT, 'a field follows the rules of creation', async (cast) => {
      const ada = await cast.person('ada');
      const { id } = await publish(ada);
      const form = { title: ' ', text: 't'.repeat(10_001) };
      problems(await ada.ask(400, `PUT /posts/edit?id=${id}`, { form }), 'body.text', 'body.title');
    }),

    rule('Rules', 'an edit that changes nothing is 400: no field, or remove_image=false alone', async (cast) => {
      const ada = await cast.person('ada');
      const { id } = await publish(ada);
      problems(await ada.ask(400, `PUT /posts/edit?id=${id}`, { form: { remove_image: 'false' } }), 'body.');
      await ada.ask(400, `PUT /posts/edit?id=${id}`);
      await ada.ask(200, `PUT /posts/edit?id=${id}`, { form: { title: 'A title' } });
    }),

    rule('Authentication 6', 'PUT /posts/edit requires that the token user is the post’s author', async (cast) => {
      const { owner, visitor, post } = await openHouse(cast);
      await visitor.ask(404, `PUT /posts/edit?id=${post.id}`, { form: { title: 'Mine now' } });
      same(
        await owner.ask(200, `GET /posts/${post.id}`),
        'the title',
        (await owner.ask(200, `GET /posts/${post.id}`)).body.title,
        post.title,
      );
    }),

    rule('Authentication 6', 'DELETE /posts/delete requires that the token user is the post’s author', async (cast) => {
      const { owner, visitor, post } = await openHouse(cast);
      await visitor.ask(404, `DELETE /posts/delete?id=${post.id}`);
      await owner.ask(200, `GET /posts/${post.id}`);
    }),

    rule(
      'Status codes',
      'edit and delete of a post that is missing, hidden or another’s: 404, the same body for all three',
      async (cast) => {
        const { visitor, post } = await openHouse(cast);
        const hidden = (await seclusion(cast)).post;
        const bodies = [];
        for (const id of [9007199254740991, hidden.id, post.id]) {
          bodies.push((await visitor.ask(404, `PUT /posts/edit?id=${id}`, { form: { title: 'Mine now' } })).body);
          bodies.push((await visitor.ask(404, `DELETE /posts/delete?id=${id}`)).body);
        }
        const answer = await visitor.ask(404, 'GET /posts/9007199254740991');
        for (const body of bodies) same(answer, 'the body', body, bodies[0]);
      },
    ),

    rule(DELETE, '200; the post is gone for everybody', async (cast) => {
      const [ada, ben] = [await cast.person('ada'), await cast.person('ben')];
      const { id } = await publish(ada);
      await ada.ask(200, `DELETE /posts/delete?id=${id}`);
      for (const { ask } of [ada, ben]) await ask(404, `GET /posts/${id}`);
      const feed = await ben.ask(200, 'GET /posts?limit=100');
      want(!idsOf(feed.body).includes(id), 'a feed without the deleted post', feed);
      await ada.ask(404, `DELETE /posts/delete?id=${id}`);
      await ben.ask(404, `POST /posts/like?id=${id}`);
    }),

    rule(DELETE, 'removes the stored image', async (cast) => {
      const ada = await cast.person('ada');
      const { id, image } = await publish(ada, { image: png() });
      await ada.ask(200, `GET ${image}`);
      await ada.ask(200, `DELETE /posts/delete?id=${id}`);
      await ada.ask(404, `GET ${image}`);
    }),

    rule(DELETE, 'query id only', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const id of ['0', 'x', '', '9007199254740992'])
        problems(await ask(400, `DELETE /posts/delete?id=${id}`), 'query.id');
      problems(await ask(400, 'DELETE /posts/delete'), 'query.id');
    }),

    rule('Resources, posts', 'A post of a friend who is private is in the feed', async (cast) => {
      const { owner, friend, post } = await seclusion(cast);
      const answer = await friend.ask(200, 'GET /posts?limit=100');
      want(answer.body.length === 100 || idsOf(answer.body).includes(post.id), `the post of ${owner.username}`, answer);
    }),
  ],
};
