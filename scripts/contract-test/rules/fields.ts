import { insertDashes } from '../../insert-dashes.js';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectProblems, expectThat } from '../expect.js';
import { type Post, publish, textForm, WRONG_PASSWORD } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

const FISH = '🐟';
/** Characters that JavaScript or the patterns of openapi.yaml treat as white space. */
const WHITE_SPACE = [...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'];
const CONTROL = [...'\x07\x1b\x7f\u0080\u009f'];
const FORMAT = [...'\u00ad\u061c\u200b\u200d\u200e\u202e\u2060\ufeff\u{e0001}'];
const IGNORABLE_OR_BLANK = [...'\u034f\u115f\u17b4\u180e\u2800\u3164\ufe0f\uffa0\u{e0100}'];
/** Values that NFC, NFKC, trimming or HTML escaping would change. */
const VERBATIM = [
  '  padded <b>&amp; "quoted" \'it\' \\ %41 +\u00a0',
  `\ufeff\u3000e\u0301 \u212b \ufb01 zero\u200bwidth \u202e${FISH} İstanbul ß `,
];
/** A value with every kind of line break, which must not be normalized. */
const LINE_BREAKS = ['\tone\ntwo\r\nthree\rfour\n'];

interface Values {
  /** Accepted values. A pair is the value sent and the value stored; `''` stands for the trimmed value. */
  valid: (unique: () => string) => (string | [sent: string, stored: string])[];
  invalid: string[];
}

const textValues = (maximum: number, additional: string[] = []): Values => ({
  valid: () => ['0', 'x'.repeat(maximum), FISH.repeat(maximum), ...VERBATIM, ...additional],
  invalid: [
    '',
    'x'.repeat(maximum + 1),
    FISH.repeat(maximum + 1),
    `${'x'.repeat(maximum)} `,
    'a\0b',
    '\0',
    ...WHITE_SPACE,
    '\u0085',
    WHITE_SPACE.join(''),
  ],
});

const domainLabel = (length: number) => 'd'.repeat(length);

/** The fields of an account and of a post, with values at and outside every limit. */
const FIELDS = {
  name: textValues(100, LINE_BREAKS),
  title: textValues(200, LINE_BREAKS),
  text: textValues(10_000, LINE_BREAKS),
  username: {
    valid: (unique) => [
      // One character: chosen from the hash so that it is unlikely to be taken.
      String.fromCodePoint(0x20000 + (Number.parseInt(unique().slice(0, 8), 16) % 40_000)),
      unique().padEnd(50, 'u'),
      unique() + FISH.repeat(50 - unique().length),
      `MiXeD.${unique()}`,
      `<b>&"'\\%41+${unique()}`,
      `e\u0301\u00df${unique()}`,
    ],
    invalid: [
      '',
      'u'.repeat(51),
      FISH.repeat(51),
      'nul\0',
      ...[...WHITE_SPACE, ...CONTROL, ...FORMAT, ...IGNORABLE_OR_BLANK].map((character) => `user${character}name`),
      ' user',
      'user ',
      '\u2800',
    ],
  },
  email: {
    valid: (unique) => [
      `${unique().padEnd(64, 'l')}@${domainLabel(63)}.${domainLabel(63)}.${domainLabel(57)}.org`,
      [` ${unique()}@example.org\t\n`, `${unique()}@example.org`],
      [`A.${unique()}.Z@Example.ORG`, `a.${unique()}.z@example.org`],
      `o'hara+tag=1/2_x-y!#$%&*?^\`{|}~${unique()}@example.org`,
      `${unique()}@a-b.c3.example.co.uk`,
      [`\u00a0${unique().padEnd(64, 'm')}@${domainLabel(63)}.${domainLabel(63)}.${domainLabel(57)}.org\u3000`, ''],
    ],
    invalid: [
      '',
      ' ',
      'plain',
      '@example.org',
      'kit@',
      'kit@localhost',
      'kit@@example.org',
      'a@b@example.org',
      '"kit"@example.org',
      'kit@[127.0.0.1]',
      'kit@127.0.0.1',
      'kit @example.org',
      'kit@exam ple.org',
      'kit@example.org\tx',
      'kit\u00a0x@example.org',
      'kit@example..org',
      '.kit@example.org',
      'kit.@example.org',
      'k..t@example.org',
      'kit@.example.org',
      'kit@example.org.',
      'kit@-example.org',
      'kit@example-.org',
      'kit@exam_ple.org',
      'kit@example.org,b@example.org',
      'Kit <kit@example.org>',
      'münchen@example.org',
      'kit@münchen.example',
      'kit\0@example.org',
      'kit@example.org\0',
      `${'l'.repeat(64)}@${domainLabel(63)}.${domainLabel(63)}.${domainLabel(58)}.org`,
      `kit@${domainLabel(64)}.org`,
      'kit@mailinator.com',
      'KIT@MailInator.COM',
      ' kit@yopmail.com ',
      'kit@mail.mailinator.com',
    ],
  },
  password: {
    valid: (unique) => {
      const core = `Kit.7${insertDashes(unique())}`;
      return [
        padded(`Qu.7${insertDashes(unique())}`, 12, ' z'),
        padded(core, 128, ' z'),
        padded(core, 128, `${FISH}z`),
        `  ${core}  `,
        `${core}\t\u00a0`,
        `e\u0301\u212b${core}`,
        'ßÄÖ-quiet-٣-Ünde',
        'TestHarbour!77',
        'Liberty-Lamp_58',
        `Teal Lantern ${FISH} 58`,
      ];
    },
    invalid: [
      '',
      'Teal-Lan_58',
      padded('Teal-Lantern_58', 129, ' z'),
      padded('Teal-Lantern_58', 129, `${FISH}z`),
      `${FISH.repeat(2)}Aa-1${'b4'}`,
      'TEAL-LANTERN_58',
      'teal-lantern_58',
      'Teal-Lantern_xy',
      'TealLantern58xy',
      'Teal-Lantern\0_58',
      'Password123!',
      'P4ssw0rd!!20!',
      'Teal-Lannntern_58',
      'Teal-   Lantern_58',
      'Teal-Lantern_58-wxyz',
      'Teal-Lantern_58-DcBa',
      'Teal-Lantern_4321',
      'Teal-Lantern_58-QweR',
      'Teal-Lantern_58-sdfgh',
      'Teal-Lantern_58-vbnm',
    ],
  },
} as const satisfies Record<string, Values>;

type Field = keyof typeof FIELDS;

/** Returns the text padded or cut to this number of code points. */
function padded(text: string, length: number, filler: string): string {
  return [...(text + filler.repeat(length))].slice(0, length).join('');
}

/** Returns the number of requests that send all invalid values. Each sends one per field: a 400 names every field. */
const maxInvalidCount = (fields: readonly Field[]) => Math.max(...fields.map((field) => FIELDS[field].invalid.length));
const invalidForm = (fields: readonly Field[], index: number): Partial<Record<Field, string>> =>
  Object.fromEntries(fields.map((field) => [field, FIELDS[field].invalid[index % FIELDS[field].invalid.length]]));

const namesField = ({ body }: CheckedResponse, field: string) =>
  (body?.errors ?? []).some(
    (problem: { in: string; field: string }) => problem.in === 'body' && problem.field === field,
  );

/** Returns whether the response rejects this field, or fails without naming any. */
const rejects = (response: CheckedResponse, field: string) =>
  response.status >= 400 && (namesField(response, field) || !response.body?.errors);

/** A value to send, and the value that must be stored. */
interface Sample {
  field: Field;
  sent: string;
  expected: string;
}

/** The response to valid values, and the values that were read afterwards. */
interface ValidResult {
  samples: Sample[];
  response: CheckedResponse;
  stored: Partial<Record<Field, unknown>>;
  readResponse: CheckedResponse;
}

/** An operation that accepts fields, with ways to send invalid and valid values. */
interface Endpoint {
  id: string;
  title: string;
  /** Whether each request creates a new resource, so that requests can be sent concurrently. */
  creates: boolean;
  fields: readonly Field[];
  sendInvalid(users: TestUsers, index: number): Promise<CheckedResponse>;
  sendValid(users: TestUsers, samples: Sample[]): Promise<ValidResult>;
}

const sentFields = (samples: Sample[]) => Object.fromEntries(samples.map(({ field, sent }) => [field, sent]));

const ACCOUNT_FIELDS = ['name', 'username', 'email', 'password'] as const;
const POST_FIELDS = ['title', 'text'] as const;

const readAccount = async (user: Pick<User, 'send'>) =>
  (await user.send([200, 401], 'GET /auth/me')) as CheckedResponse;

const updatedUser = (users: TestUsers) => users.shared('updated user', users.register);
const editedPost = (users: TestUsers) =>
  users.shared('edited post', async () => {
    const author = await users.register();
    return { author, post: await publish(author) };
  });

/** Returns the response to GET of a post. Checks that the list of the author shows the same post. */
const readPost = async (author: User, id: number): Promise<CheckedResponse> => {
  const response = await author.send(200, `GET /posts/${id}`);
  const list = await author.send(200, 'GET /posts/me?limit=100');
  const { comments, ...post } = response.body;
  expectEqual(
    list,
    'the post in the list',
    list.body.find((entry: Post) => entry.id === id),
    post,
  );
  return response;
};

const ENDPOINTS: Endpoint[] = [
  {
    id: 'register',
    title: 'POST /auth/register',
    creates: true,
    fields: ACCOUNT_FIELDS,
    sendInvalid: (users, index) =>
      users.anonymous.send([201, 400, 409], 'POST /auth/register', { json: invalidForm(ACCOUNT_FIELDS, index) }),
    async sendValid(users, samples) {
      const identity = { ...users.newUser(), ...sentFields(samples) };
      const response = await users.anonymous.send([201, 400, 409], 'POST /auth/register', { json: identity });
      if (response.status !== 201) return { samples, response, stored: {}, readResponse: response };
      const login = await users.anonymous.send([200, 400, 401], 'POST /auth/login', {
        json: { email: identity.email, password: identity.password },
      });
      const readResponse = await users.anonymous.send([200, 401], 'GET /auth/me', { token: login.body?.token });
      // A successful login shows that the password was stored as it was sent.
      return {
        samples,
        response,
        stored: { ...readResponse.body, password: login.status === 200 && identity.password },
        readResponse,
      };
    },
  },
  {
    id: 'update',
    title: 'PUT /profiles/me',
    creates: false,
    fields: ACCOUNT_FIELDS,
    async sendInvalid(users, index) {
      const { send } = await updatedUser(users);
      // The wrong current_password prevents changes even if all fields are wrongly accepted.
      const fields = { ...invalidForm(ACCOUNT_FIELDS, index), current_password: WRONG_PASSWORD };
      return send([400, 401], 'PUT /profiles/me', textForm(fields as Record<string, string>));
    },
    async sendValid(users, samples) {
      const user = await updatedUser(users);
      const fields = sentFields(samples);
      if (fields.password !== undefined) {
        // With a wrong `current_password`, a valid password returns 401 and changes nothing.
        const form = textForm({ password: fields.password, current_password: WRONG_PASSWORD });
        const response = await user.send([400, 401], 'PUT /profiles/me', form);
        if (response.status === 400) return { samples, response, stored: {}, readResponse: response };
        delete fields.password;
      }
      if (Object.keys(fields).length === 0) {
        const readResponse = await readAccount(user);
        return { samples, response: readResponse, stored: sentFields(samples), readResponse };
      }
      const response = await user.send([200, 400, 409], 'PUT /profiles/me', textForm(fields));
      const readResponse = await readAccount(user);
      const profile = (await user.send(200, 'GET /profiles/me')).body;
      if (response.status === 200) expectEqual(response, 'the profile, as GET shows it', response.body, profile);
      return { samples, response, stored: { ...sentFields(samples), ...readResponse.body }, readResponse };
    },
  },
  {
    id: 'create',
    title: 'POST /posts/create',
    creates: true,
    fields: POST_FIELDS,
    async sendInvalid(users, index) {
      const { author } = await editedPost(users);
      return author.send(
        [201, 400],
        'POST /posts/create',
        textForm(invalidForm(POST_FIELDS, index) as Record<string, string>),
      );
    },
    async sendValid(users, samples) {
      const { author } = await editedPost(users);
      const fields = { title: 'A title', text: 'A text', ...sentFields(samples) };
      const response = await author.send([201, 400], 'POST /posts/create', textForm(fields));
      if (response.status !== 201) return { samples, response, stored: {}, readResponse: response };
      const readResponse = await readPost(author, response.body.id);
      expectEqual(readResponse, 'the post, as it was created', readResponse.body, { ...response.body, comments: [] });
      return { samples, response, stored: readResponse.body, readResponse };
    },
  },
  {
    id: 'edit',
    title: 'PUT /posts/edit',
    creates: false,
    fields: POST_FIELDS,
    async sendInvalid(users, index) {
      const { author, post } = await editedPost(users);
      const form = textForm(invalidForm(POST_FIELDS, index) as Record<string, string>);
      return author.send([200, 400], `PUT /posts/edit?id=${post.id}`, form);
    },
    async sendValid(users, samples) {
      const { author, post } = await editedPost(users);
      const response = await author.send([200, 400], `PUT /posts/edit?id=${post.id}`, textForm(sentFields(samples)));
      const readResponse = await readPost(author, post.id);
      if (response.status === 200)
        expectEqual(readResponse, 'the post, as it was edited', readResponse.body, { ...response.body, comments: [] });
      return { samples, response, stored: readResponse.body, readResponse };
    },
  },
];

/** Sends all invalid values of an endpoint, one request per index. Fields with fewer values repeat them. */
const invalidResponses = (users: TestUsers, endpoint: Endpoint) =>
  users.shared(`invalid values of ${endpoint.id}`, () =>
    Promise.all(
      Array.from({ length: maxInvalidCount(endpoint.fields) }, (_, index) => endpoint.sendInvalid(users, index)),
    ),
  );

/** Sends all valid values of an endpoint, one request per index. */
const validResults = (users: TestUsers, endpoint: Endpoint) =>
  users.shared(`valid values of ${endpoint.id}`, async () => {
    const values = endpoint.fields.map((field) => {
      const count = FIELDS[field].valid(() => '0123456789ab').length;
      return Array.from({ length: count }, (_, index): Sample => {
        // The same unique text for every call: a value may contain it several times.
        const unique = users.newUser().username.replace(/[^0-9a-f]/g, '');
        const value = FIELDS[field].valid(() => unique)[index] ?? '';
        const [sent, stored] = typeof value === 'string' ? [value, value] : value;
        return { field, sent, expected: stored === '' ? sent.trim() : stored };
      });
    });
    const count = Math.max(...values.map(({ length }) => length));
    const sets = Array.from({ length: count }, (_, index) => values.flatMap((samples) => samples[index] ?? []));
    if (endpoint.creates) return Promise.all(sets.map((samples) => endpoint.sendValid(users, samples)));
    const accepted: ValidResult[] = [];
    for (const samples of sets) accepted.push(await endpoint.sendValid(users, samples));
    return accepted;
  });

const quote = (value: string) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}… (${[...value].length} characters)` : text;
};

const FIELD_DESCRIPTIONS: Record<Field, string> = {
  name: 'A name has 1 to 100 characters, counted in code points, and is not blank',
  title: 'A title has 1 to 200 characters, counted in code points, and is not blank',
  text: 'A text has 1 to 10,000 characters, counted in code points, and is not blank',
  username:
    'A username has 1 to 50 characters, counted in code points, and no white space, control, format, ignorable or blank characters',
  email:
    'An email, after trimming and lowercasing, has 1 to 254 ASCII characters, one @ and a dot in the domain, and no quoted part, address literal or disposable domain',
  password:
    'A password has 12 to 128 characters, counted in code points, with a lowercase and an uppercase letter, a digit and a special character, no character three times in a row and no obvious sequence, and is not common',
};

const valueRules = ENDPOINTS.flatMap((endpoint) =>
  endpoint.fields.flatMap((field) => [
    rule(
      `fields.${field}.refused.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} returns 400 for any other value and names the field.`,
      async (users) => {
        const responses = await invalidResponses(users, endpoint);
        for (const [index, response] of responses.entries()) {
          const value = FIELDS[field].invalid[index % FIELDS[field].invalid.length] ?? '';
          expectThat(
            response.status === 400 && namesField(response, field),
            `400 naming ${field} for ${quote(value)}`,
            response,
          );
        }
      },
    ),

    rule(
      `fields.${field}.accepted.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} accepts such values and stores them ${field === 'email' ? 'trimmed and lowercased' : 'verbatim'}.`,
      async (users) => {
        for (const { samples, response, stored, readResponse } of await validResults(users, endpoint)) {
          const sample = samples.find((one) => one.field === field);
          if (!sample) continue;
          expectThat(!rejects(response, field), `${quote(sample.sent)} accepted`, response);
          if (response.status >= 400) continue;
          expectEqual(readResponse, `${field}, as stored`, stored[field], sample.expected);
        }
      },
    ),
  ]),
);

/** Returns a user whose password changes under trimming, case folding and Unicode normalization. */
const exactPasswordUser = (users: TestUsers) =>
  users.shared('user with an exact password', async () => {
    const identity = users.newUser();
    const password = ` ${identity.password}\u212b `;
    const { body } = await users.anonymous.send(201, 'POST /auth/register', { json: { ...identity, password } });
    const { token } = (await users.login({ ...identity, password })).body;
    return { ...identity, password, id: body.id as number, token: token as string };
  });

const PASSWORD_VARIANTS: [description: string, vary: (password: string) => string][] = [
  ['trimmed', (password) => password.trim()],
  ['trimmed at the start', (password) => password.trimStart()],
  ['trimmed at the end', (password) => password.trimEnd()],
  ['with a space before it', (password) => ` ${password}`],
  ['with a space after it', (password) => `${password} `],
  ['with a tab after it', (password) => `${password}\t`],
  ['with a line break after it', (password) => `${password}\n`],
  ['in another case', (password) => password.toLowerCase()],
  ['in another Unicode form', (password) => password.normalize('NFC')],
  ['cut short', (password) => password.slice(0, -1)],
];

/** Operations that check a password. */
const PASSWORD_CHECKS: [
  id: string,
  title: string,
  field: string,
  send: (users: TestUsers, password: string) => Promise<CheckedResponse>,
][] = [
  [
    'login',
    'POST /auth/login',
    'password',
    async (users, password) => {
      const { email } = await exactPasswordUser(users);
      return users.anonymous.send([200, 400, 401], 'POST /auth/login', { json: { email, password } });
    },
  ],
  [
    'delete',
    'DELETE /profiles/me',
    'password',
    async (users, password) => {
      const { token } = await exactPasswordUser(users);
      return users.anonymous.send([200, 400, 401], 'DELETE /profiles/me', { token, json: { password } });
    },
  ],
  [
    'update',
    'PUT /profiles/me',
    'current_password',
    async (users, password) => {
      const { token } = await exactPasswordUser(users);
      const form = textForm({ name: 'A Name', current_password: password });
      return users.anonymous.send([200, 400, 401], 'PUT /profiles/me', { token, ...form });
    },
  ],
];

const exactPasswordRules = PASSWORD_CHECKS.flatMap(([id, title, field, send]) => [
  rule(
    `passwords.exact.${id}`,
    `${title} compares ${field} exactly, without trimming, case folding or Unicode normalization.`,
    async (users) => {
      const { password } = await exactPasswordUser(users);
      await Promise.all(
        PASSWORD_VARIANTS.map(async ([description, vary]) => {
          const response = await send(users, vary(password));
          expectThat(response.status === 401, `401 for the password ${description}`, response);
        }),
      );
      if (id === 'delete') return;
      const response = await send(users, password);
      expectThat(response.status === 200, '200 for the password itself', response);
    },
  ),

  rule(
    `passwords.shape.${id}`,
    `${title} returns 400 for a ${field} that has more than 128 characters or contains NUL or, in JSON, an unpaired surrogate. A wrong ${field} of up to 128 characters returns 401, an empty one ${id === 'login' ? '401' : '400'}.`,
    async (users) => {
      const { password } = await exactPasswordUser(users);
      const unpaired = field === 'password' ? [`${password}\ud800`] : [];
      const empty = id === 'login' ? { wrong: [''], invalid: [] } : { wrong: [], invalid: [''] };
      const invalidPasswords = [
        padded(password, 129, FISH),
        `${password}\0`,
        `${password}\0more`,
        '\0',
        ...unpaired,
        ...empty.invalid,
      ];
      for (const invalid of invalidPasswords) {
        expectProblems(await send(users, invalid), `body.${field}`);
      }
      for (const wrong of [padded(password, 128, 'x'), padded(password, 128, FISH), 'x', ...empty.wrong]) {
        const response = await send(users, wrong);
        expectThat(response.status === 401, `401 for a wrong password of ${[...wrong].length} characters`, response);
      }
    },
  ),
]);

export const fields: Subject = {
  name: 'Fields',
  rules: [
    ...valueRules,
    ...exactPasswordRules,

    rule(
      'login.email.normalized',
      'POST /auth/login trims and lowercases the email and changes nothing else: an address that differs in any other way returns 401.',
      async (users) => {
        const { email, password } = await exactPasswordUser(users);
        const login = (wanted: number, changed: string) =>
          users.anonymous.send(wanted, 'POST /auth/login', { json: { email: changed, password } });
        for (const same of [email.toUpperCase(), ` ${email}`, `${email}\n`, `\t ${email} \u00a0`])
          await login(200, same);
        for (const other of [
          email.replace('@', ' @'),
          `${email}.`,
          `${email}x`,
          email.replace('@', '+x@'),
          'plain',
          '',
        ]) {
          await login(401, other);
        }
        expectProblems(await login(400, `${email}\0`), 'body.email');
      },
    ),

    rule(
      'login.fields',
      'POST /auth/login requires the strings email and password. Other fields and other types return 400 and are named.',
      async (users) => {
        const { email, password } = await exactPasswordUser(users);
        for (const [json, ...wrong] of [
          [{ email }, 'password'],
          [{ password }, 'email'],
          [{}, 'email', 'password'],
          [{ email, password, username: 'x' }, 'username'],
          [{ email, password, Password: 'x' }, 'Password'],
          [{ email: [email], password }, 'email'],
          [{ email, password: { $ne: '' } }, 'password'],
          [{ email: null, password: 12 }, 'email', 'password'],
          [{ email: true, password: null }, 'email', 'password'],
          [{ email: `${email}\0`, password: `${password}\udc00` }, 'email', 'password'],
          [{ email: `${email}\ud800`, password }, 'email'],
        ] as [object, ...string[]][]) {
          const response = await users.anonymous.send(400, 'POST /auth/login', { json });
          expectProblems(response, ...wrong.map((field) => `body.${field}`));
        }
      },
    ),

    rule(
      'register.taken',
      'POST /auth/register returns 409 for a taken username or email. Usernames are compared under NFKC case folding, emails after trimming and lowercasing.',
      async (users) => {
        const { username, email } = await exactPasswordUser(users);
        for (const taken of [
          { username },
          { username: username.toUpperCase() },
          { username: username.replace('k', '\uff4b') },
          { email },
          { email: ` ${email.toUpperCase()} ` },
          { username, email },
        ]) {
          await users.anonymous.send(409, 'POST /auth/register', { json: { ...users.newUser(), ...taken } });
        }
      },
    ),

    rule(
      'profiles.update.taken',
      'PUT /profiles/me returns 409 for the username or email of another account, compared as at registration, and changes nothing.',
      async (users) => {
        const { username, email } = await exactPasswordUser(users);
        const user = await updatedUser(users);
        const before = (await user.send(200, 'GET /auth/me')).body;
        for (const taken of [
          { username },
          { username: username.toUpperCase() },
          { username: username.replace('k', '\uff4b') },
          { email },
          { email: ` ${email.toUpperCase()} ` },
          { name: 'Not stored', username },
        ] as Record<string, string>[]) {
          await user.send(409, 'PUT /profiles/me', textForm(taken));
        }
        const response = await user.send(200, 'GET /auth/me');
        expectEqual(response, 'the account, unchanged', response.body, before);
        // Another user can take a former username.
        await user.send(200, 'PUT /profiles/me', textForm({ username: users.newUser().username }));
        const { token } = await exactPasswordUser(users);
        await users.anonymous.send(200, 'PUT /profiles/me', { token, ...textForm({ username: before.username }) });
      },
    ),

    // Must be last: the other rules use the account.
    rule(
      'profiles.delete.exact',
      'DELETE /profiles/me accepts a password with white space at both ends exactly as registered.',
      async (users) => {
        const { token, email, password } = await exactPasswordUser(users);
        await users.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } });
        await users.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
        await users.anonymous.send(401, 'GET /auth/me', { token });
      },
    ),
  ],
};
