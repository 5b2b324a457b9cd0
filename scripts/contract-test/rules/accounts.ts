import { expectEqual, expectProblems, expectThat } from '../expect.js';
import { rule, type Subject } from '../rule.js';

/** Registration as it is: refused ones make nobody, and each brings several problems to be named at once. */
export const accounts: Subject = {
  name: 'Registration and accounts',
  rules: [
    rule(
      'accounts.register.success',
      'POST /auth/register with a valid name, username, email and password returns 201 {id}, and the account can log in.',
      async (cast) => {
        const who = cast.newUser();
        const answer = await cast.anonymous.send(201, 'POST /auth/register', { json: who });
        expectThat(
          Number.isSafeInteger(answer.body.id) && answer.body.id > 0,
          'an id from 1 to 9007199254740991',
          answer,
        );
        expectEqual(answer, 'the fields', Object.keys(answer.body), ['id']);
        expectThat(!answer.headers.has('set-cookie'), 'no session: that is what login is for', answer);
        expectEqual(await cast.login(who), 'the id at login', (await cast.login(who)).body.id, answer.body.id);
      },
    ),

    rule(
      'auth.me.fields',
      'GET /auth/me returns 200 {id, name, username, email} of the authenticated user.',
      async (cast) => {
        const { id, name, username, email, send } = await cast.sharedUser('ada');
        const answer = await send(200, 'GET /auth/me');
        expectEqual(answer, 'the account', answer.body, { id, name, username, email });
      },
    ),

    rule(
      'auth.verify.fields',
      'GET /auth/verify returns 200 {id, name, username, email} of the authenticated user.',
      async (cast) => {
        const { id, name, username, email, send } = await cast.sharedUser('ada');
        const answer = await send(200, 'GET /auth/verify');
        expectEqual(answer, 'the account', answer.body, { id, name, username, email });
      },
    ),

    rule(
      'accounts.register.username-taken',
      'POST /auth/register returns 409 if the username is in use.',
      async (cast) => {
        const { username } = await cast.sharedUser('ada');
        const json = { ...cast.newUser(), username };
        await cast.anonymous.send(409, 'POST /auth/register', { json });
      },
    ),

    rule(
      'accounts.username.unique-under-folding',
      'A username is unique under NFKC case folding: the same name in other letter cases or Unicode forms returns 409.',
      async (cast) => {
        const { username } = await cast.sharedUser('ada');
        const wide = username.replace('k', '\uff2b').replace('t', 'T');
        await cast.anonymous.send(409, 'POST /auth/register', { json: { ...cast.newUser(), username: wide } });
      },
    ),

    rule('accounts.register.email-taken', 'POST /auth/register returns 409 if the email is in use.', async (cast) => {
      const { email } = await cast.sharedUser('ada');
      await cast.anonymous.send(409, 'POST /auth/register', { json: { ...cast.newUser(), email } });
    }),

    rule(
      'accounts.register.email-is-normalized',
      'The email of a registration is trimmed and lowercased.',
      async (cast) => {
        const { email } = await cast.sharedUser('ada');
        const json = { ...cast.newUser(), email: ` \t${email.toUpperCase()}\n` };
        await cast.anonymous.send(409, 'POST /auth/register', { json });
      },
    ),

    rule('accounts.email.disposable', 'An email address of a disposable domain returns 400.', async (cast) => {
      const json = { ...cast.newUser(), email: 'contract.kit@mailinator.com' };
      expectProblems(await cast.anonymous.send(400, 'POST /auth/register', { json }), 'body.email');
    }),

    rule(
      'accounts.email.disposable-subdomain',
      'An email address below a disposable domain returns 400 as well.',
      async (cast) => {
        const { send } = await cast.sharedUser('ada');
        expectProblems(
          await send(400, 'PUT /profiles/me', { form: { email: 'kit@mail.mailinator.com' } }),
          'body.email',
        );
      },
    ),

    rule(
      'accounts.register.nul-and-surrogates',
      'NUL and unpaired surrogates return 400 in every body; the response names each field that contains one.',
      async (cast) => {
        const { name, username, email, password } = cast.newUser();
        const { send } = await cast.sharedUser('ada');
        for (const bad of ['\0', '\ud800', '\udc00', '\udfff\ud83d']) {
          const json = {
            name: name + bad,
            username: username + bad,
            email: email.replace('@', `${bad}@`),
            password: password + bad,
          };
          const answer = await cast.anonymous.send(400, 'POST /auth/register', { json });
          expectProblems(answer, ...Object.keys(json).map((field) => `body.${field}`));
        }
        const login = { email: `${email}\ud800`, password: `${password}\udc00` };
        expectProblems(
          await cast.anonymous.send(400, 'POST /auth/login', { json: login }),
          'body.email',
          'body.password',
        );
        expectProblems(await send(400, 'DELETE /profiles/me', { json: { password: login.password } }), 'body.password');
      },
    ),

    rule(
      'accounts.register.types',
      'The fields of a registration are strings; any other JSON type returns 400.',
      async (cast) => {
        const values = [5, true, null, {}, [], ['a@example.org']];
        for (const first of values.keys()) {
          const [name, username, email, password] = [...values.slice(first), ...values];
          expectProblems(
            await cast.anonymous.send(400, 'POST /auth/register', { json: { name, username, email, password } }),
            'body.email',
            'body.name',
            'body.password',
            'body.username',
          );
        }
      },
    ),

    rule(
      'accounts.register.body-required',
      'A required body that is absent returns 400 and names the required fields.',
      async (cast) => {
        expectProblems(
          await cast.anonymous.send(400, 'POST /auth/register'),
          'body.email',
          'body.name',
          'body.password',
          'body.username',
        );
      },
    ),
  ],
};
