import { problems, rule, type Subject, same, want } from '../rule.js';

const INPUT = 'Input rules, registration';
const DECIDED = 'Rules';

/** Registration as it is: refused ones make nobody, and each brings several problems to be named at once. */
export const accounts: Subject = {
  name: 'Registration and accounts',
  rules: [
    rule('Accounts and sessions, POST /auth/register', '201 {id}; an account that can log in', async (cast) => {
      const who = cast.identity();
      const answer = await cast.nobody.ask(201, 'POST /auth/register', { json: who });
      want(Number.isSafeInteger(answer.body.id) && answer.body.id > 0, 'an id from 1 to 9007199254740991', answer);
      same(answer, 'the fields', Object.keys(answer.body), ['id']);
      want(!answer.headers.has('set-cookie'), 'no session: that is what login is for', answer);
      same(await cast.login(who), 'the id at login', (await cast.login(who)).body.id, answer.body.id);
    }),

    rule('Accounts and sessions, GET /auth/me', '200 {id, name, username, email}', async (cast) => {
      const { id, name, username, email, ask } = await cast.person('ada');
      const answer = await ask(200, 'GET /auth/me');
      same(answer, 'the account', answer.body, { id, name, username, email });
    }),

    rule('Accounts and sessions, GET /auth/verify', '200 {id, name, username, email}', async (cast) => {
      const { id, name, username, email, ask } = await cast.person('ada');
      const answer = await ask(200, 'GET /auth/verify');
      same(answer, 'the account', answer.body, { id, name, username, email });
    }),

    rule('Accounts and sessions, POST /auth/register', '409 if the username is in use', async (cast) => {
      const { username } = await cast.person('ada');
      const json = { ...cast.identity(), username };
      await cast.nobody.ask(409, 'POST /auth/register', { json });
    }),

    rule(DECIDED, 'username: unique without regard to case and Unicode form (NFKC)', async (cast) => {
      const { username } = await cast.person('ada');
      const wide = username.replace('k', '\uff2b').replace('t', 'T');
      await cast.nobody.ask(409, 'POST /auth/register', { json: { ...cast.identity(), username: wide } });
    }),

    rule('Accounts and sessions, POST /auth/register', '409 if the email is in use', async (cast) => {
      const { email } = await cast.person('ada');
      await cast.nobody.ask(409, 'POST /auth/register', { json: { ...cast.identity(), email } });
    }),

    rule(INPUT, 'email trimmed and lowercased', async (cast) => {
      const { email } = await cast.person('ada');
      const json = { ...cast.identity(), email: ` \t${email.toUpperCase()}\n` };
      await cast.nobody.ask(409, 'POST /auth/register', { json });
    }),

    rule(INPUT, 'name and username are there and not too long; a name is not blank', async (cast) => {
      const json = { ...cast.identity(), name: 'n'.repeat(101), username: 'u'.repeat(51) };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.name', 'body.username');
      const blank = { ...cast.identity(), name: ' \t\u2003', username: '' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json: blank }), 'body.name', 'body.username');
    }),

    rule(DECIDED, 'All lengths, everywhere, are code points', async (cast) => {
      const json = { ...cast.identity(), name: '🐟'.repeat(100), username: cast.identity().username };
      await cast.nobody.ask(201, 'POST /auth/register', { json });
    }),

    rule(INPUT, 'username: no whitespace', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'PUT /profiles/me', { form: { username: 'two words' } }), 'body.username');
    }),

    rule(DECIDED, 'username: no control or format characters', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'PUT /profiles/me', { form: { username: 'zero\u200bwidth' } }), 'body.username');
    }),

    rule(INPUT, 'email of a valid format, without whitespace', async (cast) => {
      const json = { ...cast.identity(), email: 'no body@example.org' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.email');
    }),

    rule(DECIDED, 'email: ASCII, one @, a dot in the domain, no quoted part, no address literal', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const email of [
        'münchen@example.org',
        'a@b@example.org',
        'a@localhost',
        '"a"@example.org',
        'a@[127.0.0.1]',
      ]) {
        problems(await ask(400, 'PUT /profiles/me', { form: { email } }), 'body.email');
      }
    }),

    rule(INPUT, 'email 1-254 chars', async (cast) => {
      const label = `${'a'.repeat(60)}.`;
      const { ask } = await cast.person('ada');
      const long = `${'a'.repeat(60)}@${label.repeat(4)}org`;
      problems(
        await ask(400, 'PUT /profiles/me', { form: { email: long.slice(0, 255).padEnd(255, 'x') } }),
        'body.email',
      );
      problems(await ask(400, 'PUT /profiles/me', { form: { email: '' } }), 'body.email');
    }),

    rule(INPUT, 'email: not disposable', async (cast) => {
      const json = { ...cast.identity(), email: 'contract.kit@mailinator.com' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.email');
    }),

    rule(DECIDED, 'a disposable domain is refused with what is below it', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'PUT /profiles/me', { form: { email: 'kit@mail.mailinator.com' } }), 'body.email');
    }),

    rule(DECIDED, 'NUL and unpaired surrogates are 400 in every body', async (cast) => {
      const { password, email, username } = cast.identity();
      const body = JSON.stringify({ name: 'a\0b', username: 'LONE', email, password }).replace(
        'LONE',
        `${username}\\ud800`,
      );
      const headers = { 'Content-Type': 'application/json' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { body, headers }), 'body.name', 'body.username');
    }),

    rule('Endpoints', 'Registration takes texts, and nothing for what it is not', async (cast) => {
      const json = { name: 5, username: null, email: ['a@example.org'], password: {} };
      problems(
        await cast.nobody.ask(400, 'POST /auth/register', { json }),
        'body.email',
        'body.name',
        'body.password',
        'body.username',
      );
    }),

    rule('Status codes', 'a required body that is absent: 400 naming the required fields', async (cast) => {
      problems(
        await cast.nobody.ask(400, 'POST /auth/register'),
        'body.email',
        'body.name',
        'body.password',
        'body.username',
      );
    }),

    rule(DECIDED, 'name is stored as sent', async (cast) => {
      const { ask } = await cast.person('lee');
      const name = '  Mira <b>O\u2019Solheim</b>\u00a0';
      same(
        await ask(200, 'PUT /profiles/me', { form: { name } }),
        'the name',
        (await ask(200, 'GET /auth/me')).body.name,
        name,
      );
    }),
  ],
};
