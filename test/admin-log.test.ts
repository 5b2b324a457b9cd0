import { userInfo } from 'node:os';
import t from 'tap';
import type { AdminRoutes } from '../handlers/control.js';
import { createAdmin } from './support/admin.js';
import { ONE_LINE, runCommand } from './support/processes.js';
import { scrape } from './support/prometheus.js';
import { createPost, picture, startTestService } from './support/service.js';

const service = await startTestService(t);
const { createUser } = service;
const { db } = service.stores;
const { act, exportArchive } = createAdmin(service.context);

const logOf = (account: number) => act('log/list', { account: String(account), limit: 100 });

/** Returns a user with a post and a picture, and the changes that the operator can make, in an order in which all succeed. */
async function createChanges() {
  const user = await createUser();
  const [one, two] = [await createPost(user), await createPost(user)];
  await user.send('PUT', '/profiles/me', { form: { image: picture() } });
  const account = String(user.id);
  type Change = { [Path in keyof AdminRoutes]: [Path, AdminRoutes[Path]['Body']] }[keyof AdminRoutes];
  const changes: Change[] = [
    ['accounts/set-email', { account, email: `new-${user.email}` }],
    ['accounts/remove-picture', { account }],
    ['accounts/reset-password', { account }],
    ['accounts/end-sessions', { account }],
    ['accounts/disable', { account }],
    ['accounts/enable', { account }],
    ['posts/delete', { posts: [String(one.id)] }],
    ['posts/delete-all', { author: account }],
    ['accounts/delete', { account }],
  ];
  return { user, one, two, changes };
}

t.test('each change is one row, which remains when the account is deleted', async (t) => {
  const { user, one, two, changes } = await createChanges();
  for (const [path, body] of changes) await act(path, { ...body, operator: 'ada', reason: `for ${path}` });
  const rows = await logOf(user.id);
  const commands = changes.map(([path]) => path.replace('/', ' ').replace('delete-all', 'delete --author'));
  t.same(
    rows.map(({ command }) => command),
    commands.reverse(),
    'the newest first',
  );
  for (const { operator, reason, account_id, created_at } of rows)
    t.match({ operator, reason, account_id, created_at }, { operator: 'ada', reason: /^for /, account_id: user.id });
  const posts = rows.filter(({ post_id }) => post_id !== null).map(({ post_id }) => post_id);
  t.same(posts, [two.id, one.id]);
  t.same(await act('log/list', { account: String(user.id), before: rows[2]?.id ?? 0, limit: 2 }), rows.slice(3, 5));
  await t.rejects(act('log/list', { account: `@${user.username}`, limit: 1 }), { code: '400' });
});

t.test('creations, exports and the end of all sessions are rows, reads are not', async (t) => {
  const fields = { name: 'Grace', username: 'grace', email: 'grace@example.org' };
  const { id } = await act('accounts/create', { ...fields, reason: 'asked by mail' });
  for await (const _ of await exportArchive(fields.email));
  await act('accounts/show', { account: fields.email });
  await act('accounts/list', { limit: 1 });
  await act('posts/list', { author: fields.email, limit: 1 });
  t.match(await logOf(id), [
    { command: 'accounts export', operator: 'tester', reason: null },
    { command: 'accounts create', operator: 'tester', reason: 'asked by mail' },
  ]);
  t.equal((await act('log/list', { account: '@grace', limit: 9 })).length, 2);
  await act('accounts/end-sessions', {});
  t.match(await act('log/list', { limit: 1 }), [{ command: 'accounts end-sessions', account_id: null }]);
});

t.test('a change that cannot be logged is not made, and one that is not made is not logged', async (t) => {
  const { user, changes } = await createChanges();
  const countRows = async () => (await db.selectFrom('operator_log').select('id').execute()).length;
  const before = await countRows();
  const readRows = async () => [
    await db.selectFrom('accounts').selectAll().where('id', '=', user.id).execute(),
    await db.selectFrom('sessions').select('id').where('account_id', '=', user.id).execute(),
    await db.selectFrom('posts').selectAll().where('author_id', '=', user.id).execute(),
    await db.selectFrom('accounts').select('id').where('username', '=', 'never').execute(),
  ];
  const rows = await readRows();
  const create = { name: 'x', username: 'never', email: 'never@example.org' };
  await db.schema.alterTable('operator_log').renameTo('hidden_log').execute();
  for (const [path, body] of [...changes, ['accounts/create', create] as const])
    await t.rejects(act(path, body), { code: '500' }, path);
  await db.schema.alterTable('hidden_log').renameTo('operator_log').execute();
  t.same(await readRows(), rows);

  const account = String(user.id);
  const other = await createUser();
  const refused: Parameters<typeof act>[] = [
    ['accounts/set-email', { account, email: other.email }],
    ['accounts/create', { ...create, email: other.email }],
    ['accounts/remove-picture', { account: String(other.id) }],
    ['accounts/delete', { account: '@nobody' }],
    ['posts/delete', { posts: ['9007199254740991'] }],
    ['accounts/disable', { account, reason: 'x'.repeat(1001) }],
    ['accounts/disable', { account, reason: 'a\0b' }],
    ['accounts/disable', { account, operator: 'x'.repeat(101) }],
  ];
  for (const [path, body] of refused) await t.rejects(act(path, body), { code: '400' }, JSON.stringify([path, body]));
  t.same([await readRows(), await countRows()], [rows, before]);
});

t.test('the metric counts the rows', async (t) => {
  const count = async () => (await scrape(service.opsUrl)).value('operator_actions') ?? 0;
  const { email } = await createUser();
  const before = await count();
  await act('accounts/disable', { account: email });
  t.equal(await count(), before + 1);
});

t.test('the command', async (t) => {
  const { id, email } = await createUser();
  const admin = (variables: NodeJS.ProcessEnv, ...args: string[]) =>
    runCommand(t, ['admin', ...args], { ...service.environment, ...variables });

  await t.test('names the operator', async (t) => {
    const enable = ['accounts', 'enable', email] as const;
    t.equal((await admin({ SUDO_USER: '' }, ...enable)).code, 0);
    t.equal((await admin({ SUDO_USER: 'sue' }, ...enable)).code, 0);
    t.equal((await admin({ SUDO_USER: 'sue' }, ...enable, '--operator', 'olga')).code, 0);
    const operators = (await logOf(id)).map(({ operator }) => operator);
    t.same(operators, ['olga', 'sue', userInfo().username]);
    t.match(await admin({}, ...enable, '--operator', ''), { code: 2, output: ONE_LINE });
  });

  await t.test('prints the log without control characters', async (t) => {
    const reason = 'spam\u001B[2J\u202Ewave';
    t.equal((await admin({}, 'accounts', 'disable', email, '--yes', '--operator', 'ada', '--reason', reason)).code, 0);
    const { output } = await admin({}, 'log', '--limit', '1');
    t.match(output, /^id +time +operator +command +account +post +reason\n/);
    t.match(output, new RegExp(` 2\\S+Z +ada +accounts disable +${id} +- +spam \\[2J wave\n`));
    t.match(output, /^There may be more: --before \d+$/m);
    const json = await admin({}, 'log', '--account', String(id), '--json');
    t.notMatch(json.output.trimEnd(), /[\p{Cc}\p{Cf}]/u);
    t.match(JSON.parse(json.output)[0], { operator: 'ada', command: 'accounts disable', account_id: id, reason });
    t.match(await admin({}, 'log', '--account', '@nobody'), { code: 2, output: ONE_LINE });
  });
});
