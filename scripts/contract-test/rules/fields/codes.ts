import { type RequestContent, samples } from '../../client/index.js';
import { expectProblemCodes } from '../../expect.js';
import { bodyOfType, type RawPart, rawForm, textForm, UNUSED_ID } from '../../fixtures.js';
import { rule } from '../../rule.js';

type InvalidRequest = [request: string, content?: RequestContent];

const create = (title: string, text = 'A text'): InvalidRequest => ['POST /posts/create', textForm({ title, text })];
const EDIT = `PUT /posts/edit?id=${UNUSED_ID}`;
const edit = (...parts: RawPart[]): InvalidRequest => [EDIT, rawForm(...parts)];
const update = (fields: Record<string, string>): InvalidRequest => ['PUT /profiles/me', textForm(fields)];
const register = (json: object): InvalidRequest => ['POST /auth/register', { json }];
const login = (body: string): InvalidRequest => ['POST /auth/login', bodyOfType('application/json', body)];

const TITLE = { name: 'title', content: 'A title' };
const BLANK_TITLE = { name: 'title', content: ' ' };
const UNKNOWN = { name: 'größe', content: '1' };
const IMAGE = { name: 'image', content: samples.png, fileName: 'a.png', type: 'image/png' };
const PDF = { ...IMAGE, content: '%PDF-1.7' };
const MANY_NAMES = Array.from({ length: 40 }, (_, index) => `unknown${index}`);

/** Invalid requests, each with all expected problems (`in.field code`). `{ownId}` stands for the id of the user. */
const GROUPS: [id: string, description: string, cases: [InvalidRequest, ...problems: string[]][]][] = [
  [
    'text',
    'blank, too_long, invalid_characters and invalid_encoding for texts',
    [
      [create(''), 'body.title blank'],
      [create('', ''), 'body.title blank', 'body.text blank'],
      [create(' \t\u3000'), 'body.title blank'],
      [create('x'.repeat(201)), 'body.title too_long'],
      [create(' '.repeat(201)), 'body.title too_long'],
      [create('\0'.repeat(201)), 'body.title too_long'],
      [create('a\0b'), 'body.title invalid_characters'],
      [create('a\ufffdb', '\ufffd'), 'body.title invalid_encoding', 'body.text invalid_encoding'],
    ],
  ],
  [
    'account',
    'blank, too_long, whitespace, invisible_characters, invalid_encoding, email and disposable_email for the fields of an account',
    [
      [update({ name: '', username: '', email: '' }), 'body.name blank', 'body.username blank', 'body.email blank'],
      [
        update({ name: ' '.repeat(101), username: 'a b', email: ' ' }),
        'body.name too_long',
        'body.username whitespace',
        'body.email blank',
      ],
      [update({ username: 'a\u200bb', email: 'a b@c' }), 'body.username invisible_characters', 'body.email email'],
      [
        update({ username: ' \u{e0001}', email: 'x@mailinator.com' }),
        'body.username whitespace',
        'body.username invisible_characters',
        'body.email disposable_email',
      ],
      [
        update({ username: 'u'.repeat(51), email: `${'x'.repeat(253)}@x` }),
        'body.username too_long',
        'body.email too_long',
      ],
      ...[register, update].map((send): [InvalidRequest, ...string[]] => [
        send({ name: '\ufffd', username: 'a\ufffd', email: 'a\ufffd@example.org', password: 'Teal-Lantern\ufffd_58' }),
        ...['name', 'username', 'email', 'password'].map((field) => `body.${field} invalid_encoding`),
        ...(send === update ? ['body.current_password required'] : []),
      ]),
    ],
  ],
  [
    'types',
    'required, unknown_field, not_a_string, invalid_encoding, not_an_object and malformed_json for JSON bodies',
    [
      [
        login('{"email":7,"extra":null}'),
        'body.email not_a_string',
        'body.extra unknown_field',
        'body.password required',
      ],
      [login('{"email":"a@b.c","password":"\\ud800"}'), 'body.password invalid_encoding'],
      [login('[]'), 'body. not_an_object'],
      [login('{'), 'body. malformed_json'],
    ],
  ],
  [
    'query',
    'required, not_an_integer, out_of_range, repeated, unknown_field and own_id for the query, and unexpected_body',
    [
      [[`GET /posts?${MANY_NAMES.join('=&')}=`], ...MANY_NAMES.map((name) => `query.${name} unknown_field`)],
      [['GET /posts?limit=five&offset=-1'], 'query.limit not_an_integer', 'query.offset out_of_range'],
      [['GET /posts?limit=0&page=1'], 'query.limit out_of_range', 'query.page unknown_field'],
      [['GET /posts?limit=5&limit=5&limit=5'], 'query.limit repeated'],
      [['POST /posts/like?id=7&id=8'], 'query.id repeated'],
      [['GET /posts?limit[]=5'], 'query.limit[] unknown_field'],
      [['POST /create_relationship?me={ownId}&them={ownId}'], 'query.them own_id'],
      [['POST /create_relationship'], 'query.me required', 'query.them required'],
      [['POST /posts/like'], 'query.id required'],
      [['POST /friends/request?to={ownId}', { json: {} }], 'query.to own_id', 'body. unexpected_body'],
    ],
  ],
  [
    'forms',
    'repeated, not_a_boolean, not_text, not_a_file, no_changes, conflicting_fields and malformed_form for forms',
    [
      [edit(TITLE, TITLE, TITLE), 'body.title repeated'],
      [edit({ name: 'remove_image', content: 'maybe' }), 'body.remove_image not_a_boolean'],
      [edit({ ...TITLE, fileName: 'a.txt' }), 'body.title not_text'],
      [edit({ ...TITLE, type: 'text/html' }), 'body.title not_text'],
      [edit({ name: 'image', content: 'x' }), 'body.image not_a_file'],
      [edit({ name: 'remove_image', content: 'false' }), 'body. no_changes'],
      [edit(IMAGE, { name: 'remove_image', content: 'true' }), 'body.remove_image conflicting_fields'],
      [[EDIT, { ...rawForm(), body: 'x' }], 'body. malformed_form'],
    ],
  ],
  [
    'together',
    'blank, required, unknown_field, not_a_file and unsupported_image together for a form with an invalid image',
    [
      [edit(BLANK_TITLE, UNKNOWN, PDF), 'body.title blank', 'body.größe unknown_field', 'body.image unsupported_image'],
      [
        edit(BLANK_TITLE, UNKNOWN, { name: 'image', content: 'x' }),
        'body.title blank',
        'body.größe unknown_field',
        'body.image not_a_file',
      ],
      [
        ['POST /posts/create', rawForm(BLANK_TITLE, PDF)],
        'body.title blank',
        'body.text required',
        'body.image unsupported_image',
      ],
      [
        ['PUT /profiles/me', rawForm({ name: 'name', content: '' }, PDF)],
        'body.name blank',
        'body.image unsupported_image',
      ],
    ],
  ],
  [
    'images',
    'unsupported_image and image_type_mismatch for files',
    [
      [edit({ ...PDF, type: 'image/png' }), 'body.image unsupported_image'],
      [edit({ ...IMAGE, type: 'image/gif' }), 'body.image image_type_mismatch'],
    ],
  ],
];

export const codeRules = GROUPS.map(([id, description, cases]) =>
  rule(
    `fields.codes.${id}`,
    `A 400 response lists one problem for each cause, with the codes ${description}.`,
    async (users) => {
      const user = await users.sharedUser('ada');
      await Promise.all(
        cases.map(async ([[request, content], ...problems]) => {
          const { send } = request.startsWith('POST /auth/') ? users.anonymous : user;
          expectProblemCodes(await send(400, request.replaceAll('{ownId}', `${user.id}`), content), ...problems);
        }),
      );
    },
  ),
);
