import type { RequestContent } from '../client/index.js';
import { expectCode, expectEqual, expectProblems, expectThat, SkippedError } from '../expect.js';
import { bodyOfType, CROSS_SITE, textForm } from '../fixtures.js';
import { type Rule, rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';

/** The fields of a registration, as a 400 names them. */
const REGISTRATION_FIELDS = ['body.email', 'body.name', 'body.password', 'body.username'];

const REGISTRATION = 'POST /auth/register';

/** Creates a rule that is skipped unless registration must be closed. */
const closedRule = (id: string, sentence: string, check: (users: TestUsers) => Promise<void>): Rule =>
  rule(id, sentence, async (users) => {
    if (!users.isRegistrationClosed) throw new SkippedError('closed registration is checked only with --accounts');
    await check(users);
  });

const closedRules = [
  closedRule(
    'accounts.register.closed',
    'While registration is closed, POST /auth/register returns 403 registration_closed and creates nothing: the account cannot log in, and its username and email stay free.',
    async (users) => {
      const json = users.newUser();
      expectCode(await users.anonymous.send(403, REGISTRATION, { json }), 'registration_closed');
      const { username, email, password } = json;
      await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
      const { send } = await users.register();
      await send(200, 'PUT /profiles/me', { form: { username, email } });
    },
  ),

  closedRule(
    'accounts.register.closed.order',
    'While registration is closed, POST /auth/register returns 403 registration_closed regardless of its query and body, even if the username and email are taken. An unsupported method returns 405.',
    async (users) => {
      const ada = await users.sharedUser('ada');
      const json = users.newUser();
      for (const [request, content] of [
        [REGISTRATION, {}],
        [REGISTRATION, { json: {} }],
        [REGISTRATION, { json: { ...json, name: ' ', extra: 1 } }],
        [REGISTRATION, { json: { ...json, username: ada.username, email: ada.email } }],
        [REGISTRATION, bodyOfType('application/json', '{')],
        [REGISTRATION, bodyOfType('text/plain', 'hello')],
        [REGISTRATION, textForm({ name: 'A name' })],
        [`${REGISTRATION}?page=1`, { json }],
        [REGISTRATION, { json, token: 'stale' }],
        [REGISTRATION, { json, token: ada.token }],
      ] as [string, RequestContent][])
        expectCode(await users.anonymous.send(403, request, content), 'registration_closed');
      await users.anonymous.send(403, REGISTRATION, { json, headers: CROSS_SITE });
      await users.anonymous.send(405, 'PUT /auth/register', { json });
    },
  ),
];

/** Most invalid registrations have several invalid fields, because the strict rate limit allows few requests. */
export const accounts: Subject = {
  name: 'Registration and accounts',
  rules: [
    rule(
      'accounts.register.success',
      'POST /auth/register with a valid name, username, email and password returns 201 {id}, and the account can log in.',
      async (users) => {
        const newUser = users.newUser();
        const response = await users.anonymous.send(201, REGISTRATION, { json: newUser });
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
        const response = await users.anonymous.send(201, REGISTRATION, { json: newUser });
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
          expectProblems(await users.anonymous.send(400, REGISTRATION, { json }), ...REGISTRATION_FIELDS);
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
          expectProblems(await users.anonymous.send(400, REGISTRATION, { json }), ...REGISTRATION_FIELDS);
        }
      },
    ),

    rule(
      'accounts.register.body-required',
      'A registration without a body returns 400 and names the required fields.',
      async (users) => {
        expectProblems(await users.anonymous.send(400, REGISTRATION), ...REGISTRATION_FIELDS);
      },
    ),

    ...closedRules,
  ],
};
