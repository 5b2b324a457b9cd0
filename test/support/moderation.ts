import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { HttpOptions } from './http.js';
import { createSender } from './http.js';
import type { Operator, StartedService } from './runbook.js';
import { picture } from './service.js';
import { temporaryDirectory } from './stores.js';
import { until } from './until.js';
import { NEW_PASSWORD, PASSWORD, registerWith, WRONG_PASSWORD } from './users.js';

/** The variables of a service whose log and addresses of clients are as in production. */
export const MODERATED = 'LOG_LEVEL=info LOG_FORMAT=json TRUST_PROXY=127.0.0.1';

const [USER_ADDRESS, ABUSER_ADDRESS] = ['198.51.100.1', '203.0.113.7'];

/** Acts out the situations of the section “Moderation” with a service that was started with `MODERATED`. */
export async function moderate(t: Test, operator: Operator, service: StartedService): Promise<void> {
  const directory = await temporaryDirectory(t);
  const logFile = join(directory, 'log');
  const section = operator.open('Moderation');
  const send = createSender(t, operator.url);
  const from =
    (address: string) =>
    (method: string, path: string, options: HttpOptions = {}) =>
      send(method, path, { ...options, headers: { ...options.headers, 'X-Forwarded-For': address } });
  const login = async (address: string, email: string, password: string): Promise<string> =>
    (await from(address)('POST', '/auth/login', { json: { email, password } })).body.token;
  const statuses = async (token: string, ...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await send('GET', path, { token })).status));
  const post = async (token: string, title: string) =>
    (await send('POST', '/posts/create', { token, form: { title, text: 'T', image: picture() } })).body;
  const copyLog = async () => {
    // The lines before that of this request have arrived, too.
    const { headers } = await send('GET', '/auth/me');
    await until(async () => service.output().includes(`${headers.get('x-request-id')}`));
    await writeFile(logFile, service.output());
  };

  // The operator of this test has no terminal to answer questions.
  await section.runWith('admin()', { '"$@"': '--yes "$@"' });
  const viewer = await registerWith(from(USER_ADDRESS));
  const [spammer, other] = [await registerWith(from(ABUSER_ADDRESS)), await registerWith(from(ABUSER_ADDRESS))];
  const [bad, harmless] = [await post(spammer.token, 'Bad'), await post(spammer.token, 'Harmless')];
  await post(other.token, 'Spam');
  const ACCOUNT = `@${spammer.username}`;

  await copyLog();
  const addresses = await section.runWith('"accountId"', { ID: String(spammer.id), LOG_FILE: logFile });
  t.match(addresses, `2 "address":"${ABUSER_ADDRESS}"`, 'of the registration and the login');
  t.notMatch(addresses, USER_ADDRESS);
  const accounts = await section.runWith('"address"', { ADDRESS: ABUSER_ADDRESS, LOG_FILE: logFile });
  const found = [...accounts.matchAll(/"accountId":(\d+)/g)].map(([, id]) => Number(id));
  t.same(found.sort(), [spammer.id, other.id].sort());

  const paths = [`/posts/${bad.id}`, bad.image, `/posts/${harmless.id}`, `/profiles/${spammer.id}`];
  const shown = await section.runWith('posts show', { POST: `${operator.url}${bad.image}`, ACCOUNT });
  t.match(shown, new RegExp(`^author_id +${spammer.id}\n(.*\n)*.*Harmless\n(.*\n)*disabled_at +2`, 'm'));
  t.same(await statuses(viewer.token, ...paths), [404, 404, 404, 404]);
  await section.runWith('posts delete', { POST: String(bad.id), ACCOUNT });
  t.same(await statuses(viewer.token, ...paths), [404, 404, 200, 200], 'what is harmless is back');

  const listed = await section.runWith('accounts list', { ACCOUNT });
  t.match(listed, new RegExp(`${other.username}.*\n(.*\n)*.*Harmless`));
  await section.runWith('for id', { IDS: found.join(' ') });
  t.same(await statuses(viewer.token, `/profiles/${spammer.id}`, `/profiles/${other.id}`), [404, 404]);

  const owner = await registerWith(from(USER_ADDRESS));
  const stolen = await login(ABUSER_ADDRESS, owner.email, PASSWORD);
  const thief = { email: `thief-${owner.email}`, password: NEW_PASSWORD };
  const change = { ...thief, current_password: PASSWORD };
  t.equal((await from(ABUSER_ADDRESS)('PUT', '/profiles/me', { token: stolen, form: change })).status, 200);
  const thiefToken = await login(ABUSER_ADDRESS, thief.email, thief.password);
  const { id: fraud } = await post(thiefToken, 'Send money');
  await copyLog();
  const takenOver = { ACCOUNT: String(owner.id), EMAIL: owner.email, LOG_FILE: logFile };
  const events = await section.runWith('previous', takenOver);
  t.match(events, new RegExp(`"email_changed","accountId":${owner.id},"address":"${ABUSER_ADDRESS}"`));
  await section.runWith('disable', { ...takenOver, FILE: join(directory, 'taken-over.tar') });
  t.same(await statuses(viewer.token, `/profiles/${owner.id}`, `/posts/${fraud}`), [404, 404]);
  const returned = await section.runWith('set-email', takenOver);
  t.match(returned, 'Send money');
  const [, password = ''] = /^password +(\S+)$/m.exec(returned) ?? [];
  const ownerToken = await login(USER_ADDRESS, owner.email, password);
  t.same(await statuses(ownerToken, '/auth/me'), [200]);
  t.same(await statuses(thiefToken, '/auth/me'), [401]);
  t.equal(await login(ABUSER_ADDRESS, owner.email, thief.password), undefined);

  const exported = await section.runWith('export', { ACCOUNT, FILE: join(directory, 'data.tar') });
  t.match(exported, /accounts export .* request of the owner/);
  await section.runWith('delete', { ACCOUNT });
  t.same(await statuses(viewer.token, `/posts/${harmless.id}`, `/profiles/${spammer.id}`), [404, 404]);

  const order = { ACCOUNT: String(owner.id), FILE: join(directory, 'order.tar') };
  t.match(await section.runWith('show', order), /accounts export .* order 1/);
  t.same(await statuses(ownerToken, '/auth/me'), [200], 'the user does not notice');

  for (const { email } of [owner, viewer]) await login(ABUSER_ADDRESS, email, WRONG_PASSWORD);
  const guessed = await login(ABUSER_ADDRESS, viewer.email, PASSWORD);
  await copyLog();
  const guesses = await section.runWith('login_failed', { ADDRESS: ABUSER_ADDRESS, LOG_FILE: logFile });
  t.match(guesses, new RegExp(`^ *3 "address":"${ABUSER_ADDRESS}"$`, 'm'));
  t.match(guesses, `"accountId":${viewer.id}\n`);
  t.match(await section.runWith('reset-password', { IDS: String(viewer.id) }), /^password +\S+$/m);
  t.same(await statuses(guessed, '/auth/me'), [401]);
  t.match(await section.run('--all'), /Sessions ended: [1-9]/);
  t.same(await statuses(ownerToken, '/auth/me'), [401]);
}
