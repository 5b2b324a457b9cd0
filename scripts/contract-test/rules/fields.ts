import { inPairs } from '../../pairs.js';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectProblems, expectThat } from '../expect.js';
import { type Post, publish, textForm } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

const FISH = '🐟';
/** What JavaScript or the document's patterns take for white space. */
const WHITE_SPACE = [...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'];
const CONTROL = [...'\x07\x1b\x7f\u0080\u009f'];
const FORMAT = [...'\u00ad\u061c\u200b\u200d\u200e\u202e\u2060\ufeff\u{e0001}'];
const IGNORABLE_OR_BLANK = [...'\u034f\u115f\u17b4\u180e\u2800\u3164\ufe0f\uffa0\u{e0100}'];
/** Values that NFC, NFKC, trimming or HTML escaping would change. */
const VERBATIM = [
  '  padded <b>&amp; "quoted" \'it\' \\ %41 +\u00a0',
  `\ufeff\u3000e\u0301 \u212b \ufb01 zero\u200bwidth \u202e${FISH} İstanbul ß `,
];
/** Values in which a line break could be changed on the way. */
const LINES = ['\tone\ntwo\r\nthree\rfour\n'];

interface Values {
  /** Accepted values, and how each is shown afterwards if it is not verbatim. */
  good: (unique: () => string) => (string | [sent: string, shown: string])[];
  bad: string[];
}

const texts = (maximum: number, good: string[] = []): Values => ({
  good: () => ['0', 'x'.repeat(maximum), FISH.repeat(maximum), ...VERBATIM, ...good],
  bad: [
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

const label = (length: number) => 'd'.repeat(length);

/** The fields of an account and of a post, with values at and beyond every limit. */
const FIELDS = {
  name: texts(100, LINES),
  title: texts(200, LINES),
  text: texts(10_000, LINES),
  username: {
    good: (unique) => [
      // Of one character there are few: one that nobody else will have.
      String.fromCodePoint(0x20000 + (Number.parseInt(unique().slice(0, 8), 16) % 40_000)),
      unique().padEnd(50, 'u'),
      unique() + FISH.repeat(50 - unique().length),
      `MiXeD.${unique()}`,
      `<b>&"'\\%41+${unique()}`,
      `e\u0301\u00df${unique()}`,
    ],
    bad: [
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
    good: (unique) => [
      `${unique().padEnd(64, 'l')}@${label(63)}.${label(63)}.${label(57)}.org`,
      [` ${unique()}@example.org\t\n`, `${unique()}@example.org`],
      [`A.${unique()}.Z@Example.ORG`, `a.${unique()}.z@example.org`],
      `o'hara+tag=1/2_x-y!#$%&*?^\`{|}~${unique()}@example.org`,
      `${unique()}@a-b.c3.example.co.uk`,
      [`\u00a0${unique().padEnd(64, 'm')}@${label(63)}.${label(63)}.${label(57)}.org\u3000`, ''],
    ],
    bad: [
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
      `${'l'.repeat(64)}@${label(63)}.${label(63)}.${label(58)}.org`,
      `kit@${label(64)}.org`,
      'kit@mailinator.com',
      'KIT@MailInator.COM',
      ' kit@yopmail.com ',
      'kit@mail.mailinator.com',
    ],
  },
  password: {
    good: (unique) => {
      const core = `Kit.7${inPairs(unique())}`;
      return [
        filled(`Qu.7${inPairs(unique())}`, 12, ' z'),
        filled(core, 128, ' z'),
        filled(core, 128, `${FISH}z`),
        `  ${core}  `,
        `${core}\t\u00a0`,
        `e\u0301\u212b${core}`,
        'ßÄÖ-quiet-٣-Ünde',
        'TestHarbour!77',
        'Liberty-Lamp_58',
        `Teal Lantern ${FISH} 58`,
      ];
    },
    bad: [
      '',
      'Teal-Lan_58',
      filled('Teal-Lantern_58', 129, ' z'),
      filled('Teal-Lantern_58', 129, `${FISH}z`),
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

/** A text of so many code points. */
function filled(text: string, length: number, filler: string): string {
  return [...(text + filler.repeat(length))].slice(0, length).join('');
}

/** One value of each field for every index: a request that is refused names all of its fields. */
const longest = (fields: readonly Field[]) => Math.max(...fields.map((field) => FIELDS[field].bad.length));
const badForm = (fields: readonly Field[], index: number): Partial<Record<Field, string>> =>
  Object.fromEntries(fields.map((field) => [field, FIELDS[field].bad[index % FIELDS[field].bad.length]]));

const names = ({ body }: CheckedResponse, field: string) =>
  (body?.errors ?? []).some(
    (problem: { in: string; field: string }) => problem.in === 'body' && problem.field === field,
  );

/** Whether a refusal is for this field's value, or for no reason given. */
const blames = (answer: CheckedResponse, field: string) =>
  answer.status >= 400 && (names(answer, field) || !answer.body?.errors);

interface Sample {
  field: Field;
  sent: string;
  shown: string;
}

/** What came of good values: the response, and what is shown afterwards. */
interface Accepted {
  samples: Sample[];
  answer: CheckedResponse;
  shown: Partial<Record<Field, unknown>>;
  shownBy: CheckedResponse;
}

/** Where fields are sent: how bad values are refused, and what becomes of good ones. */
interface Place {
  id: string;
  title: string;
  /** Whether each request creates something of its own, so that they can be sent side by side. */
  creates: boolean;
  fields: readonly Field[];
  refuse(cast: TestUsers, index: number): Promise<CheckedResponse>;
  accept(cast: TestUsers, samples: Sample[]): Promise<Accepted>;
}

const sentOf = (samples: Sample[]) => Object.fromEntries(samples.map(({ field, sent }) => [field, sent]));

const ACCOUNT_FIELDS = ['name', 'username', 'email', 'password'] as const;
const POST_FIELDS = ['title', 'text'] as const;

const shownOf = async (who: Pick<User, 'send'>) => (await who.send([200, 401], 'GET /auth/me')) as CheckedResponse;

const updated = (cast: TestUsers) => cast.once('user of field updates', cast.register);
const edited = (cast: TestUsers) =>
  cast.once('post of field edits', async () => {
    const author = await cast.register();
    return { author, post: await publish(author) };
  });

const readPost = async (author: User, id: number): Promise<CheckedResponse> => {
  const answer = await author.send(200, `GET /posts/${id}`);
  const list = await author.send(200, 'GET /posts/me?limit=100');
  const { comments, ...post } = answer.body;
  expectEqual(
    list,
    'the post in the list',
    list.body.find((entry: Post) => entry.id === id),
    post,
  );
  return answer;
};

const PLACES: Place[] = [
  {
    id: 'register',
    title: 'POST /auth/register',
    creates: true,
    fields: ACCOUNT_FIELDS,
    refuse: (cast, index) =>
      cast.anonymous.send([201, 400, 409], 'POST /auth/register', { json: badForm(ACCOUNT_FIELDS, index) }),
    async accept(cast, samples) {
      const identity = { ...cast.newUser(), ...sentOf(samples) };
      const answer = await cast.anonymous.send([201, 400, 409], 'POST /auth/register', { json: identity });
      if (answer.status !== 201) return { samples, answer, shown: {}, shownBy: answer };
      const login = await cast.anonymous.send([200, 400, 401], 'POST /auth/login', {
        json: { email: identity.email, password: identity.password },
      });
      const shownBy = await cast.anonymous.send([200, 401], 'GET /auth/me', { token: login.body?.token });
      // That a login succeeds shows that the password was stored as it was sent.
      return {
        samples,
        answer,
        shown: { ...shownBy.body, password: login.status === 200 && identity.password },
        shownBy,
      };
    },
  },
  {
    id: 'update',
    title: 'PUT /profiles/me',
    creates: false,
    fields: ACCOUNT_FIELDS,
    async refuse(cast, index) {
      const { send } = await updated(cast);
      // Nothing changes, even if all fields are wrongly accepted.
      const fields = { ...badForm(ACCOUNT_FIELDS, index), current_password: 'Wrong-Harbour_58' };
      return send([400, 401], 'PUT /profiles/me', textForm(fields as Record<string, string>));
    },
    async accept(cast, samples) {
      const user = await updated(cast);
      const fields = sentOf(samples);
      if (fields.password !== undefined) {
        // A password is checked with a wrong `current_password`: what is accepted gets as far as that.
        const form = textForm({ password: fields.password, current_password: 'Wrong-Harbour_58' });
        const answer = await user.send([400, 401], 'PUT /profiles/me', form);
        if (answer.status === 400) return { samples, answer, shown: {}, shownBy: answer };
        delete fields.password;
      }
      if (Object.keys(fields).length === 0) {
        const shownBy = await shownOf(user);
        return { samples, answer: shownBy, shown: sentOf(samples), shownBy };
      }
      const answer = await user.send([200, 400, 409], 'PUT /profiles/me', textForm(fields));
      const shownBy = await shownOf(user);
      const profile = (await user.send(200, 'GET /profiles/me')).body;
      if (answer.status === 200) expectEqual(answer, 'the profile, as GET shows it', answer.body, profile);
      return { samples, answer, shown: { ...sentOf(samples), ...shownBy.body }, shownBy };
    },
  },
  {
    id: 'create',
    title: 'POST /posts/create',
    creates: true,
    fields: POST_FIELDS,
    async refuse(cast, index) {
      const { author } = await edited(cast);
      return author.send(
        [201, 400],
        'POST /posts/create',
        textForm(badForm(POST_FIELDS, index) as Record<string, string>),
      );
    },
    async accept(cast, samples) {
      const { author } = await edited(cast);
      const fields = { title: 'A title', text: 'A text', ...sentOf(samples) };
      const answer = await author.send([201, 400], 'POST /posts/create', textForm(fields));
      if (answer.status !== 201) return { samples, answer, shown: {}, shownBy: answer };
      const shownBy = await readPost(author, answer.body.id);
      expectEqual(shownBy, 'the post, as it was created', shownBy.body, { ...answer.body, comments: [] });
      return { samples, answer, shown: shownBy.body, shownBy };
    },
  },
  {
    id: 'edit',
    title: 'PUT /posts/edit',
    creates: false,
    fields: POST_FIELDS,
    async refuse(cast, index) {
      const { author, post } = await edited(cast);
      const form = textForm(badForm(POST_FIELDS, index) as Record<string, string>);
      return author.send([200, 400], `PUT /posts/edit?id=${post.id}`, form);
    },
    async accept(cast, samples) {
      const { author, post } = await edited(cast);
      const answer = await author.send([200, 400], `PUT /posts/edit?id=${post.id}`, textForm(sentOf(samples)));
      const shownBy = await readPost(author, post.id);
      if (answer.status === 200)
        expectEqual(shownBy, 'the post, as it was edited', shownBy.body, { ...answer.body, comments: [] });
      return { samples, answer, shown: shownBy.body, shownBy };
    },
  },
];

/** All bad values at a place, one request for each index, whatever their number. */
const refusals = (cast: TestUsers, place: Place) =>
  cast.once(`refusals at ${place.id}`, () =>
    Promise.all(Array.from({ length: longest(place.fields) }, (_, index) => place.refuse(cast, index))),
  );

/** All good values at a place, one request for each index. */
const acceptances = (cast: TestUsers, place: Place) =>
  cast.once(`acceptances at ${place.id}`, async () => {
    const values = place.fields.map((field) => {
      const count = FIELDS[field].good(() => '0123456789ab').length;
      return Array.from({ length: count }, (_, index): Sample => {
        // Each value has an identity of its own, which it may use several times.
        const unique = cast.newUser().username.replace(/[^0-9a-f]/g, '');
        const value = FIELDS[field].good(() => unique)[index] ?? '';
        const [sent, shown] = typeof value === 'string' ? [value, value] : value;
        return { field, sent, shown: shown === '' ? sent.trim() : shown };
      });
    });
    const count = Math.max(...values.map(({ length }) => length));
    const sets = Array.from({ length: count }, (_, index) => values.flatMap((samples) => samples[index] ?? []));
    if (place.creates) return Promise.all(sets.map((samples) => place.accept(cast, samples)));
    const accepted: Accepted[] = [];
    for (const samples of sets) accepted.push(await place.accept(cast, samples));
    return accepted;
  });

const quoted = (value: string) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}… (${[...value].length} characters)` : text;
};

const LIMITS: Record<Field, string> = {
  name: 'name has 1 to 100 characters, counted in code points, and is not blank',
  title: 'title has 1 to 200 characters, counted in code points, and is not blank',
  text: 'text has 1 to 10,000 characters, counted in code points, and is not blank',
  username:
    'username has 1 to 50 characters, counted in code points, without white space, control, format, ignorable or blank characters',
  email:
    'email has 1 to 254 characters, trimmed and lowercased first: ASCII, one @, a dot in the domain, no quoted part, no address literal, no disposable domain',
  password:
    'password has 12 to 128 characters, counted in code points, with a lowercase and an uppercase letter, a digit and a special character, no triple repeat, no obvious sequence, and is not common',
};

const matrix = PLACES.flatMap((place) =>
  place.fields.flatMap((field) => [
    rule(
      `fields.${field}.refused.${place.id}`,
      `${LIMITS[field]}. ${place.title} responds to anything else with 400 and names the field.`,
      async (cast) => {
        const answers = await refusals(cast, place);
        for (const [index, answer] of answers.entries()) {
          const value = FIELDS[field].bad[index % FIELDS[field].bad.length] ?? '';
          expectThat(
            answer.status === 400 && names(answer, field),
            `400 that names ${field} for ${quoted(value)}`,
            answer,
          );
        }
      },
    ),

    rule(
      `fields.${field}.accepted.${place.id}`,
      `${LIMITS[field]}. ${place.title} accepts every such value and stores it ${field === 'email' ? 'trimmed and lowercased' : 'verbatim'}.`,
      async (cast) => {
        for (const { samples, answer, shown, shownBy } of await acceptances(cast, place)) {
          const sample = samples.find((one) => one.field === field);
          if (!sample) continue;
          expectThat(!blames(answer, field), `${quoted(sample.sent)} accepted`, answer);
          if (answer.status >= 400) continue;
          expectEqual(shownBy, `${field}, as it is shown`, shown[field], sample.shown);
        }
      },
    ),
  ]),
);

/** A user whose password and email any change would show in. */
const exact = (cast: TestUsers) =>
  cast.once('user with an exact password', async () => {
    const identity = { ...cast.newUser() };
    const password = ` ${identity.password}\u212b `;
    const { body } = await cast.anonymous.send(201, 'POST /auth/register', { json: { ...identity, password } });
    const { token } = (await cast.login({ ...identity, password })).body;
    return { ...identity, password, id: body.id as number, token: token as string };
  });

const CHANGES: [says: string, change: (password: string) => string][] = [
  ['trimmed', (password) => password.trim()],
  ['trimmed at its start', (password) => password.trimStart()],
  ['trimmed at its end', (password) => password.trimEnd()],
  ['with a blank before it', (password) => ` ${password}`],
  ['with a blank after it', (password) => `${password} `],
  ['with a tab after it', (password) => `${password}\t`],
  ['with a line break after it', (password) => `${password}\n`],
  ['in another case', (password) => password.toLowerCase()],
  ['in another Unicode form', (password) => password.normalize('NFC')],
  ['cut short', (password) => password.slice(0, -1)],
];

/** Operations that check a password, with what they send. */
const CHECKS: [
  id: string,
  title: string,
  field: string,
  send: (cast: TestUsers, password: string) => Promise<CheckedResponse>,
][] = [
  [
    'login',
    'POST /auth/login',
    'password',
    async (cast, password) => {
      const { email } = await exact(cast);
      return cast.anonymous.send([200, 400, 401], 'POST /auth/login', { json: { email, password } });
    },
  ],
  [
    'delete',
    'DELETE /profiles/me',
    'password',
    async (cast, password) => {
      const { token } = await exact(cast);
      return cast.anonymous.send([200, 400, 401], 'DELETE /profiles/me', { token, json: { password } });
    },
  ],
  [
    'update',
    'PUT /profiles/me',
    'current_password',
    async (cast, password) => {
      const { token } = await exact(cast);
      const form = textForm({ name: 'A Name', current_password: password });
      return cast.anonymous.send([200, 400, 401], 'PUT /profiles/me', { token, ...form });
    },
  ],
];

const exactness = CHECKS.flatMap(([id, title, field, send]) => [
  rule(
    `passwords.exact.${id}`,
    `${title} compares ${field} exactly: not trimmed, not normalized, white space preserved.`,
    async (cast) => {
      const { password } = await exact(cast);
      await Promise.all(
        CHANGES.map(async ([says, change]) => {
          const answer = await send(cast, change(password));
          expectThat(answer.status === 401, `401 for the password ${says}`, answer);
        }),
      );
      if (id === 'delete') return;
      const answer = await send(cast, password);
      expectThat(answer.status === 200, '200 for the password itself', answer);
    },
  ),

  rule(
    `passwords.shape.${id}`,
    `${title} returns 400 for a ${field} of more than 128 characters, with NUL or, in JSON, with an unpaired surrogate, and 401 for a wrong one of 128. An empty one is ${id === 'login' ? 'wrong' : '400'}.`,
    async (cast) => {
      const { password } = await exact(cast);
      const unpaired = field === 'password' ? [`${password}\ud800`] : [];
      const empty = id === 'login' ? { wrong: [''], bad: [] } : { wrong: [], bad: [''] };
      const bads = [filled(password, 129, FISH), `${password}\0`, `${password}\0more`, '\0', ...unpaired, ...empty.bad];
      for (const bad of bads) {
        expectProblems(await send(cast, bad), `body.${field}`);
      }
      for (const wrong of [filled(password, 128, 'x'), filled(password, 128, FISH), 'x', ...empty.wrong]) {
        const answer = await send(cast, wrong);
        expectThat(answer.status === 401, `401 for a wrong password of ${[...wrong].length} characters`, answer);
      }
    },
  ),
]);

export const fields: Subject = {
  name: 'Fields',
  rules: [
    ...matrix,
    ...exactness,

    rule(
      'login.email.normalized',
      'POST /auth/login trims and lowercases the email, and nothing more: an address that differs otherwise is another one.',
      async (cast) => {
        const { email, password } = await exact(cast);
        const login = (wanted: number, changed: string) =>
          cast.anonymous.send(wanted, 'POST /auth/login', { json: { email: changed, password } });
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
      'POST /auth/login takes the texts email and password and nothing else, and names every other field and type.',
      async (cast) => {
        const { email, password } = await exact(cast);
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
          const answer = await cast.anonymous.send(400, 'POST /auth/login', { json });
          expectProblems(answer, ...wrong.map((field) => `body.${field}`));
        }
      },
    ),

    rule(
      'register.taken',
      'POST /auth/register returns 409 for a username or an email in use, compared by NFKC case folding and lowercased, and names no field.',
      async (cast) => {
        const { username, email } = await exact(cast);
        for (const taken of [
          { username },
          { username: username.toUpperCase() },
          { username: username.replace('k', '\uff4b') },
          { email },
          { email: ` ${email.toUpperCase()} ` },
          { username, email },
        ]) {
          await cast.anonymous.send(409, 'POST /auth/register', { json: { ...cast.newUser(), ...taken } });
        }
      },
    ),

    rule(
      'profiles.update.taken',
      'PUT /profiles/me returns 409 for a username or an email of another account, compared as at registration, and changes nothing.',
      async (cast) => {
        const { username, email } = await exact(cast);
        const user = await updated(cast);
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
        const answer = await user.send(200, 'GET /auth/me');
        expectEqual(answer, 'the account, unchanged', answer.body, before);
        // A username that is given up is free.
        await user.send(200, 'PUT /profiles/me', textForm({ username: cast.newUser().username }));
        const { token } = await exact(cast);
        await cast.anonymous.send(200, 'PUT /profiles/me', { token, ...textForm({ username: before.username }) });
      },
    ),

    // Last: the other rules use the account.
    rule(
      'profiles.delete.exact',
      'DELETE /profiles/me accepts a password with white space at both ends as it was registered.',
      async (cast) => {
        const { token, email, password } = await exact(cast);
        await cast.anonymous.send(200, 'DELETE /profiles/me', { token, json: { password } });
        await cast.anonymous.send(401, 'POST /auth/login', { json: { email, password } });
        await cast.anonymous.send(401, 'GET /auth/me', { token });
      },
    ),
  ],
};
