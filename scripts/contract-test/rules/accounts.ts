import { problems, same, want } from '../expect.js';
import { rule, type Subject } from '../rule.js';

/** Registration as it is: refused ones make nobody, and each brings several problems to be named at once. */
export const accounts: Subject = {
  name: 'Registration and accounts',
  rules: [
    rule(
      'accounts.register.success',
      'POST /auth/register with a valid name, username, email and password returns 201 {id}, and the account can log in.',
      async (cast) => {
        const who = cast.identity();
        const answer = await cast.nobody.ask(201, 'POST /auth/register', { json: who });
        want(Number.isSafeInteger(answer.body.id) && answer.body.id > 0, 'an id from 1 to 9007199254740991', answer);
        same(answer, 'the fields', Object.keys(answer.body), ['id']);
        want(!answer.headers.has('set-cookie'), 'no session: that is what login is for', answer);
        same(await cast.login(who), 'the id at login', (await cast.login(who)).body.id, answer.body.id);
      },
    ),

    rule(
      'auth.me.fields',
      'GET /auth/me returns 200 {id, name, username, email} of the authenticated user.',
      async (cast) => {
        const { id, name, username, email, ask } = await cast.person('ada');
        const answer = await ask(200, 'GET /auth/me');
        same(answer, 'the account', answer.body, { id, name, username, email });
      },
    ),

    rule(
      'auth.verify.fields',
      'GET /auth/verify returns 200 {id, name, username, email} of the authenticated user.',
      async (cast) => {
        const { id, name, username, email, ask } = await cast.person('ada');
        const answer = await ask(200, 'GET /auth/verify');
        same(answer, 'the account', answer.body, { id, name, username, email });
      },
    ),

    rule(
      'accounts.register.username-taken',
      'POST /auth/register returns 409 if the username is in use.',
      async (cast) => {
        const { username } = await cast.person('ada');
        const json = { ...cast.identity(), username };
        await cast.nobody.ask(409, 'POST /auth/register', { json });
      },
    ),

    rule(
      'accounts.username.unique-under-folding',
      'A username is unique under NFKC case folding: the same name in other letter cases or Unicode forms returns 409.',
      async (cast) => {
        const { username } = await cast.person('ada');
        const wide = username.replace('k', '\uff2b').replace('t', 'T');
        await cast.nobody.ask(409, 'POST /auth/register', { json: { ...cast.identity(), username: wide } });
      },
    ),

    rule('accounts.register.email-taken', 'POST /auth/register returns 409 if the email is in use.', async (cast) => {
      const { email } = await cast.person('ada');
      await cast.nobody.ask(409, 'POST /auth/register', { json: { ...cast.identity(), email } });
    }),

    rule(
      'accounts.register.email-is-normalized',
      'The email of a registration is trimmed and lowercased.',
      async (cast) => {
        const { email } = await cast.person('ada');
        const json = { ...cast.identity(), email: ` \t${email.toUpperCase()}\n` };
        await cast.nobody.ask(409, 'POST /auth/register', { json });
      },
    ),

    rule('accounts.email.disposable', 'An email address of a disposable domain returns 400.', async (cast) => {
      const json = { ...cast.identity(), email: 'contract.kit@mailinator.com' };
      problems(await cast.nobody.ask(400, 'POST /auth/register', { json }), 'body.email');
    }),

    rule(
      'accounts.email.disposable-subdomain',
      'An email address below a disposable domain returns 400 as well.',
      async (cast) => {
        const { ask } = await cast.person('ada');
        problems(await ask(400, 'PUT /profiles/me', { form: { email: 'kit@mail.mailinator.com' } }), 'body.email');
      },
    ),

    rule(
      'accounts.register.nul-and-surrogates',
      'NUL and unpaired surrogates return 400 in every body; the response names each field that contains one.',
      async (cast) => {
        const { name, username, email, password } = cast.identity();
        const { ask } = await cast.person('ada');
        for (const bad of ['\0', '\ud800', '\udc00', '\udfff\ud83d']) {
          const json = {
            name: name + bad,
            username: username + bad,
            email: email.replace('@', `${bad}@`),
            password: password + bad,
          };
          const answer = await cast.nobody.ask(400, 'POST /auth/register', { json });
          problems(answer, ...Object.keys(json).map((field) => `body.${field}`));
        }
        const login = { email: `${email}\ud800`, password: `${password}\udc00` };
        problems(await cast.nobody.ask(400, 'POST /auth/login', { json: login }), 'body.email', 'body.password');
        problems(await ask(400, 'DELETE /profiles/me', { json: { password: login.password } }), 'body.password');
      },
    ),

    rule(
      'accounts.register.types',
      'The fields of a registration are strings; any other JSON type returns 400.',
      async (cast) => {
        const values = [5, true, null, {}, [], ['a@example.org']];
        for (const first of values.keys()) {
          const [name, username, email, password] = [...values.slice(first), ...values];
          problems(
            await cast.nobody.ask(400, 'POST /auth/register', { json: { name, username, email, password } }),
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
        problems(
          await cast.nobody.ask(400, 'POST /auth/register'),
          'body.email',
          'body.name',
          'body.password',
          'body.username',
        );
      },
    ),
  ],
};
