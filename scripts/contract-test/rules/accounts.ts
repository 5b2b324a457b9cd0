import { expectCode, expectEqual, expectProblems, expectThat } from '../expect.js';
import { rule, type Subject } from '../rule.js';

/** Most invalid registrations have several invalid fields, because the strict rate limit allows few requests. */
export const accounts: Subject = {
  name: 'Registration and accounts',
  rules: [
    rule(
      'accounts.register.success',
      'POST /auth/register with a valid name, username, email and password returns 201 {id}, and the account can log in.',
      async (users) => {
        const newUser = users.newUser();
        const response = await users.anonymous.send(201, 'POST /auth/register', { json: newUser });
        expectThat(
          Number.isSafeInteger(response.body.id) && response.body.id > 0,
          'an id from 1 to 9007199254740991',
          response,
        );
        expectEqual(response, 'the fields', Object.keys(response.body), ['id']);
        expectThat(!response.headers.has('set-cookie'), 'no session cookie', response);
        const login = await users.login(newUser);
        expectEqual(login, 'the id at login', login.body.id, response.body.id);
      },
    ),

    rule(
      'accounts.register.location',
      'POST /auth/register returns the path of the new profile in the header Location.',
      async (users) => {
        const newUser = users.newUser();
        const response = await users.anonymous.send(201, 'POST /auth/register', { json: newUser });
        const location = response.headers.get('location');
        expectEqual(response, 'Location', location, `/profiles/${response.body.id}`);
        const { send } = await users.sharedUser('ada');
        const profile = await send(200, `GET ${location}`);
        expectEqual(profile, 'the username', profile.body.username, newUser.username);
      },
    ),

    rule(
      'auth.me.fields',
      'GET /auth/me returns 200 {id, name, username, email} of the authenticated user.',
      async (users) => {
        const { id, name, username, email, send } = await users.sharedUser('ada');
        const response = await send(200, 'GET /auth/me');
        expectEqual(response, 'the account', response.body, { id, name, username, email });
      },
    ),

    rule(
      'auth.verify.fields',
      'GET /auth/verify returns 200 {id, name, username, email} of the authenticated user.',
      async (users) => {
        const { id, name, username, email, send } = await users.sharedUser('ada');
        const response = await send(200, 'GET /auth/verify');
        expectEqual(response, 'the account', response.body, { id, name, username, email });
      },
    ),

    rule(
      'accounts.register.username-taken',
      'POST /auth/register returns 409 username_taken if the username is taken.',
      async (users) => {
        const { username } = await users.sharedUser('ada');
        const json = { ...users.newUser(), username };
        expectCode(await users.anonymous.send(409, 'POST /auth/register', { json }), 'username_taken');
      },
    ),

    rule(
      'accounts.register.email-taken',
      'POST /auth/register returns 409 email_taken if the email is taken.',
      async (users) => {
        const { email } = await users.sharedUser('ada');
        const json = { ...users.newUser(), email };
        expectCode(await users.anonymous.send(409, 'POST /auth/register', { json }), 'email_taken');
      },
    ),

    rule(
      'accounts.register.email-is-normalized',
      'The email of a registration is trimmed and lowercased.',
      async (users) => {
        const { email } = await users.sharedUser('ada');
        const json = { ...users.newUser(), email: ` \t${email.toUpperCase()}\n` };
        await users.anonymous.send(409, 'POST /auth/register', { json });
      },
    ),

    rule(
      'accounts.email.disposable',
      'A registration with an email address of a disposable domain returns 400.',
      async (users) => {
        const json = { ...users.newUser(), email: 'contract.test@mailinator.com' };
        expectProblems(await users.anonymous.send(400, 'POST /auth/register', { json }), 'body.email');
      },
    ),

    rule(
      'accounts.email.disposable-subdomain',
      'A profile update with an email address of a subdomain of a disposable domain returns 400.',
      async (users) => {
        const { send } = await users.sharedUser('ada');
        expectProblems(
          await send(400, 'PUT /profiles/me', { form: { email: 'test@mail.mailinator.com' } }),
          'body.email',
        );
      },
    ),

    rule(
      'accounts.register.nul-and-surrogates',
      'NUL and unpaired surrogates in a body return 400, and the response names each field that contains one.',
      async (users) => {
        const { name, username, email, password } = users.newUser();
        const { send } = await users.sharedUser('ada');
        for (const bad of ['\0', '\ud800', '\udc00', '\udfff\ud83d']) {
          const json = {
            name: name + bad,
            username: username + bad,
            email: email.replace('@', `${bad}@`),
            password: password + bad,
          };
          const response = await users.anonymous.send(400, 'POST /auth/register', { json });
          expectProblems(response, ...Object.keys(json).map((field) => `body.${field}`));
        }
        const login = { email: `${email}\ud800`, password: `${password}\udc00` };
        expectProblems(
          await users.anonymous.send(400, 'POST /auth/login', { json: login }),
          'body.email',
          'body.password',
        );
        expectProblems(await send(400, 'DELETE /profiles/me', { json: { password: login.password } }), 'body.password');
      },
    ),

    rule(
      'accounts.register.types',
      'The fields of a registration must be strings. Any other JSON type returns 400.',
      async (users) => {
        const values = [5, true, null, {}, [], ['a@example.org']];
        for (const first of values.keys()) {
          const [name, username, email, password] = [...values.slice(first), ...values];
          expectProblems(
            await users.anonymous.send(400, 'POST /auth/register', { json: { name, username, email, password } }),
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
      'A registration without a body returns 400 and names the required fields.',
      async (users) => {
        expectProblems(
          await users.anonymous.send(400, 'POST /auth/register'),
          'body.email',
          'body.name',
          'body.password',
          'body.username',
        );
      },
    ),
  ],
};
