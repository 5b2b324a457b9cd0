import { expectCode, expectEqual, expectProblems, expectThat } from '../expect.js';
import { rule, type Subject } from '../rule.js';

/** The fields of a registration, as a 400 names them. */
const REGISTRATION_FIELDS = ['body.email', 'body.name', 'body.password', 'body.username'];

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
        const { id } = response.body;
        expectThat(Number.isSafeInteger(id) && id > 0, 'an id from 1 to 9007199254740991', response);
        expectEqual(response, 'the body', response.body, { id });
        expectThat(!response.headers.has('set-cookie'), 'no session cookie', response);
        const login = await users.login(newUser);
        expectEqual(login, 'the id at login', login.body.id, id);
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

    ...['me', 'verify'].map((path) =>
      rule(
        `auth.${path}.fields`,
        `GET /auth/${path} returns 200 {id, name, username, email} of the authenticated user.`,
        async (users) => {
          const { id, name, username, email, send } = await users.sharedUser('ada');
          const response = await send(200, `GET /auth/${path}`);
          expectEqual(response, 'the account', response.body, { id, name, username, email });
        },
      ),
    ),

    ...(['username', 'email'] as const).map((field) =>
      rule(
        `accounts.register.${field}-taken`,
        `POST /auth/register returns 409 ${field}_taken if the ${field} is taken.`,
        async (users) => {
          const taken = (await users.sharedUser('ada'))[field];
          const json = { ...users.newUser(), [field]: taken };
          expectCode(await users.anonymous.send(409, 'POST /auth/register', { json }), `${field}_taken`);
        },
      ),
    ),

    rule(
      'accounts.register.email-is-normalized',
      'The email of a registration is trimmed and lowercased before it is compared with those of other accounts.',
      async (users) => {
        const { email } = await users.sharedUser('ada');
        const json = { ...users.newUser(), email: ` \t${email.toUpperCase()}\n` };
        await users.anonymous.send(409, 'POST /auth/register', { json });
      },
    ),

    rule(
      'accounts.register.nul-and-surrogates',
      'NUL and unpaired surrogates in a body return 400, and the response names each field that contains one.',
      async (users) => {
        const { name, username, email, password } = users.newUser();
        const { send } = await users.sharedUser('ada');
        for (const invalid of ['\0', '\ud800', '\udc00', '\udfff\ud83d']) {
          const json = {
            name: name + invalid,
            username: username + invalid,
            email: email.replace('@', `${invalid}@`),
            password: password + invalid,
          };
          expectProblems(await users.anonymous.send(400, 'POST /auth/register', { json }), ...REGISTRATION_FIELDS);
        }
        const login = { email: `${email}\ud800`, password: `${password}\udc00` };
        const response = await users.anonymous.send(400, 'POST /auth/login', { json: login });
        expectProblems(response, 'body.email', 'body.password');
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
          const json = { name, username, email, password };
          expectProblems(await users.anonymous.send(400, 'POST /auth/register', { json }), ...REGISTRATION_FIELDS);
        }
      },
    ),

    rule(
      'accounts.register.body-required',
      'A registration without a body returns 400 and names the required fields.',
      async (users) => {
        expectProblems(await users.anonymous.send(400, 'POST /auth/register'), ...REGISTRATION_FIELDS);
      },
    ),
  ],
};
