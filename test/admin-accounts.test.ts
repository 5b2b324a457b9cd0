import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { createAdmin } from './support/admin.js';
import { expectConsistentStores } from './support/consistency.js';
import { expensiveTexts } from './support/expensive-inputs.js';
import { createPost, PASSWORD, picture, startTestService } from './support/service.js';
import { emptyStores } from './support/store-fixtures.js';

const service = await startTestService(t, { ...(await emptyStores(t)), REGISTRATION: 'closed' });
const { send, createUser } = service;
const { db } = service.stores;
const { act } = createAdmin(service.context);

const login = (email: string, password = PASSWORD) => send('POST', '/auth/login', { json: { email, password } });
const me = (token: string) => send('GET', '/auth/me', { token });

t.test('creates an account while registration is closed, under the rules of registration', async (t) => {
  const fields = { name: 'Ada', username: 'Ada-L', email: ' Ada@Example.org ' };
  const { id, password } = await act('accounts/create', fields);
  t.match(await login('ada@example.org', password), { status: 200, body: { id } });
  t.match(await act('accounts/show', { account: '@ada-l' }), { id, email: 'ada@example.org', sessions: 1, posts: 0 });
  await t.rejects(act('accounts/create', fields), { code: '400', message: /^username: / });
  const invalid = { name: '\ufffd', username: 'a b', email: 'x@mailinator.com' };
  await t.rejects(act('accounts/create', invalid), {
    code: '400',
    message: /(?=.*\bname: )(?=.*username: )(?=.*email: )/,
  });
});

t.test('refuses names that no password may contain, and texts that are expensive to fold', async (t) => {
  const fields = { name: 'Ada', username: 'ada-valid', email: 'ada-valid@example.org' };
  const expensive = expensiveTexts(40_000);
  const rows: [field: keyof typeof fields, text: string][] = [
    ['username', '\u200b'],
    ['email', '\u2060@example.org'],
    ...Object.values(expensive).flatMap((text) => Object.keys(fields).map((field) => [field, text] as never)),
  ];
  for (const [field, text] of rows) {
    const message = new RegExp(`^${field}: [^;]+(; ${field}: [^;]+)*$`);
    await t.rejects(act('accounts/create', { ...fields, [field]: text }), { code: '400', message }, field);
  }
  const tooLong = { code: '400', message: /^(account|search) must NOT have more than (2000|254) characters$/ };
  for (const [name, text] of Object.entries(expensive)) {
    for (const account of [text, `@${text}`, `${text}@example.org`])
      await t.rejects(act('accounts/show', { account }), tooLong, name);
    await t.rejects(act('accounts/list', { search: text, limit: 9 }), tooLong, name);
  }
});

t.test('finds accounts by id, username, email address and a part of them', async (t) => {
  const user = await createUser({ name: '100 % Zoë' });
  await createPost(user, { image: picture() });
  for (const account of [String(user.id), `@${user.username.toUpperCase()}`, user.email])
    t.match(await act('accounts/show', { account }), { id: user.id, posts: 1, sessions: 1, disabled_at: null });
  for (const search of ['100 % z', user.username.slice(1), user.email.slice(2)])
    t.same(await act('accounts/list', { search, limit: 9 }), [await act('accounts/show', { account: user.email })]);
  t.same(await act('accounts/list', { search: '100_%', limit: 9 }), []);
  const ids = (await act('accounts/list', { limit: 1000 })).map(({ id }) => id);
  const [first = 0, ...rest] = ids;
  t.same(
    (await act('accounts/list', { after: first, limit: 1000 })).map(({ id }) => id),
    rest,
  );
  t.same(await act('accounts/list', { after: ids.at(-1) ?? 0, limit: 1000 }), []);
  for (const account of ['9007199254740991', '9'.repeat(30), '@nobody', 'no@body.example', 'nobody'])
    await t.rejects(act('accounts/show', { account }), { code: '400' }, account);
});

t.test('finds usernames in any case and Unicode form', async (t) => {
  const usernames = ['École-14', 'Straße-14', 'kır-14'];
  for (const username of usernames) {
    const fields = { name: 'x', username, email: `${usernames.indexOf(username)}@folded.example` };
    await act('accounts/create', fields);
  }
  const found = async (search: string) =>
    (await act('accounts/list', { search, limit: 9 })).map(({ username }) => username);
  for (const form of ['NFC', 'NFD', 'NFKC'] as const)
    t.same(await found('éCOLE-14'.normalize(form)), ['École-14'], form);
  t.same(await found('STRASSE-14'), ['Straße-14']);
  t.same(await found('straße-1'), ['Straße-14']);
  t.same(await found('kir-14'), [], 'ı is not i');
  t.same(await found('@FOLDED.example'), usernames);
  t.same(await found('\u200b'), [], 'an invisible text is not part of every username');
});

t.test('lists accounts in several orders, in pages, and disabled ones', async (t) => {
  const domain = `${randomUUID()}.example`;
  const create = async (index: number, posts: number, image: boolean) => {
    const { id } = await act('accounts/create', {
      name: 'x',
      username: `${index}-${domain}`,
      email: `u${index}@${domain}`,
    });
    await sql`
      insert into posts (author_id, title, text) select ${id}::int8, 'T', 'x' from generate_series(1, ${posts}::int)`.execute(
      db,
    );
    if (image) await sql`update accounts set picture_bytes = 7, stored_bytes = 7 where id = ${id}`.execute(db);
    return id;
  };
  const a = await create(0, 1, false);
  const b = await create(1, 3, true);
  const c = await create(2, 1, true);
  const d = await create(3, 0, false);
  const orders = { id: [a, b, c, d], newest: [d, c, b, a], 'stored-bytes': [c, b, d, a], posts: [b, c, a, d] } as const;
  const list = async (page: object) =>
    (await act('accounts/list', { search: domain, limit: 9, ...page })).map(({ id }) => id);
  for (const [order, ids] of Object.entries(orders)) {
    t.same(await list({ order }), ids, order);
    const pages = [];
    for (let after: number | undefined; ; after = pages.at(-1)) {
      const page = await list({ order, limit: 1, ...(after && { after }) });
      if (page.length === 0) break;
      pages.push(...page);
    }
    t.same(pages, ids, `pages by ${order}`);
  }
  await act('accounts/disable', { account: String(b) });
  t.same(await list({ disabled: true }), [b]);
  await act('accounts/delete', { account: String(c) });
  t.same(await list({ order: 'newest', after: c }), [b, a], 'continues after a deleted account');
  await t.rejects(list({ order: 'posts', after: c }), { code: '400', message: `There is no account “${c}”` });
  await t.rejects(list({ order: 'name' }), { code: '400' });
  // The graph does not know their posts.
  for (const account of [a, b, d]) await act('accounts/delete', { account: String(account) });
});

t.test('sets an email address under the rules of registration, which ends all sessions', async (t) => {
  const [{ id, email, token }, other] = [await createUser(), await createUser()];
  const account = String(id);
  for (const address of ['x', 'x@mailinator.com', `${'x'.repeat(300)}@x.example`, 'a\0@x.example', '\ufffd@x.example'])
    await t.rejects(act('accounts/set-email', { account, email: address }), { code: '400', message: /^email: / });
  const taken = { code: '400', message: 'email: is already in use' };
  await t.rejects(act('accounts/set-email', { account, email: other.email.toUpperCase() }), taken);
  t.equal((await me(token)).status, 200, 'nothing has changed');
  const changed = await act('accounts/set-email', { account: email, email: ` Owner@${email} `.replace('@u', '-u') });
  t.match(changed, { id, email: `owner-${email}`, sessions: 0 });
  t.equal((await me(token)).status, 401);
  t.equal((await login(email)).status, 401);
  t.equal((await login(`owner-${email}`)).status, 200);
});

t.test('removes a profile picture', async (t) => {
  const [user, reader] = [await createUser(), await createUser()];
  const { body } = await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  t.match(await act('accounts/remove-picture', { account: body.profile_link }), { picture: null, stored_bytes: 0 });
  t.equal((await reader.send('GET', body.profile_link)).status, 404);
  t.match((await user.send('GET', '/profiles/me')).body, { profile_link: null }, 'the session continues');
  const again = act('accounts/remove-picture', { account: user.email });
  await t.rejects(again, { code: '400', message: `The account “${user.email}” has no picture` });
  await expectConsistentStores(t, service.stores);
});

t.test('resets a password, which ends all sessions', async (t) => {
  const { id, email, token } = await createUser();
  const reset = await act('accounts/reset-password', { account: email });
  t.equal((await me(token)).status, 401);
  t.equal((await login(email)).status, 401);
  t.match(await login(email, reset.password), { status: 200, body: { id } });
  t.notOk(service.logged().includes(reset.password));
});

t.test('ends the sessions of an account, or of all', async (t) => {
  const [one, other] = [await createUser(), await createUser()];
  await one.newSession();
  t.same(await act('accounts/end-sessions', { account: String(one.id) }), { ended: 2 });
  t.same([(await me(one.token)).status, (await me(other.token)).status], [401, 200]);
  await act('accounts/end-sessions', {});
  t.equal((await me(other.token)).status, 401);
});
