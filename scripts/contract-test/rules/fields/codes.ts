import type { CheckedResponse } from '../../exchange.js';
import { expectProblemCodes } from '../../expect.js';
import { contentType, type RawPart, rawForm, textForm, UNUSED_ID } from '../../fixtures.js';
import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';

/** The responses to invalid requests, each with all expected problems (`in.field code`). */
type Cases = readonly (readonly [response: Promise<CheckedResponse>, ...problems: string[]])[];

const GROUPS: [id: string, description: string, send: (users: TestUsers) => Promise<Cases>][] = [
  [
    'text',
    'blank, too_long and invalid_characters for texts',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const create = (title: string, text = 'A text') => send(400, 'POST /posts/create', textForm({ title, text }));
      return [
        [create(''), 'body.title blank'],
        [create('', ''), 'body.title blank', 'body.text blank'],
        [create(' \t\u3000'), 'body.title blank'],
        [create('x'.repeat(201)), 'body.title too_long'],
        [create(' '.repeat(201)), 'body.title too_long'],
        [create('a\0b'), 'body.title invalid_characters'],
      ];
    },
  ],
  [
    'account',
    'whitespace, invisible_characters, email and disposable_email for the fields of an account',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const update = (fields: Record<string, string>) => send(400, 'PUT /profiles/me', textForm(fields));
      return [
        [update({ name: '', username: '', email: '' }), 'body.name blank', 'body.username blank', 'body.email blank'],
        [update({ username: 'a b', email: ' ' }), 'body.username whitespace', 'body.email blank'],
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
      ];
    },
  ],
  [
    'types',
    'required, unknown_field, not_a_string, invalid_encoding, not_an_object and malformed_json for JSON bodies',
    async (users) => {
      const login = (body: string) =>
        users.anonymous.send(400, 'POST /auth/login', { body, headers: contentType('application/json') });
      return [
        [
          login('{"email":7,"extra":null}'),
          'body.email not_a_string',
          'body.extra unknown_field',
          'body.password required',
        ],
        [login('{"email":"a@b.c","password":"\\ud800"}'), 'body.password invalid_encoding'],
        [login('[]'), 'body. not_an_object'],
        [login('{'), 'body. malformed_json'],
      ];
    },
  ],
  [
    'query',
    'not_an_integer, out_of_range, repeated, unknown_field and own_id for query parameters, and unexpected_body',
    async (users) => {
      const { send, id } = await users.sharedUser('ada');
      const manyNames = Array.from({ length: 40 }, (_, index) => `unknown${index}`);
      return [
        [send(400, `GET /posts?${manyNames.join('=&')}=`), ...manyNames.map((name) => `query.${name} unknown_field`)],
        [send(400, 'GET /posts?limit=five&offset=-1'), 'query.limit not_an_integer', 'query.offset out_of_range'],
        [send(400, 'GET /posts?limit=0&page=1'), 'query.limit out_of_range', 'query.page unknown_field'],
        [send(400, 'GET /posts?limit=5&limit=5&limit=5'), 'query.limit repeated'],
        [send(400, 'POST /posts/like'), 'query.id required'],
        [send(400, `POST /friends/request?to=${id}`, { json: {} }), 'query.to own_id', 'body. unexpected_body'],
      ];
    },
  ],
  [
    'forms',
    'repeated, not_a_boolean, not_text, not_a_file, no_changes, conflicting_fields and malformed_form for forms',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const edit = `PUT /posts/edit?id=${UNUSED_ID}`;
      const title = { name: 'title', content: 'A title' };
      const image = { name: 'image', content: samples.png, fileName: 'a.png' };
      return [
        [send(400, edit, rawForm(title, title, title)), 'body.title repeated'],
        [send(400, edit, textForm({ remove_image: 'maybe' })), 'body.remove_image not_a_boolean'],
        [send(400, edit, rawForm({ ...title, fileName: 'a.txt' })), 'body.title not_text'],
        [send(400, edit, rawForm({ ...title, type: 'text/html' })), 'body.title not_text'],
        [send(400, edit, textForm({ image: 'x' })), 'body.image not_a_file'],
        [send(400, edit, textForm({ remove_image: 'false' })), 'body. no_changes'],
        [
          send(400, edit, rawForm(image, { name: 'remove_image', content: 'true' })),
          'body.remove_image conflicting_fields',
        ],
        [
          send(400, edit, { body: 'x', headers: contentType('multipart/form-data; boundary=form') }),
          'body. malformed_form',
        ],
      ];
    },
  ],
  [
    'together',
    'of the image, of other fields and of undocumented fields together',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const [title, unknown] = [
        { name: 'title', content: ' ' },
        { name: 'größe', content: '1' },
      ];
      const [pdf, text] = [
        { name: 'image', content: '%PDF-1.7', fileName: 'a.png' },
        { name: 'image', content: 'x' },
      ];
      const problems = ['body.title blank', 'body.größe unknown_field'];
      const edit = (image: RawPart) => send(400, `PUT /posts/edit?id=${UNUSED_ID}`, rawForm(title, unknown, image));
      return [
        [edit(pdf), ...problems, 'body.image unsupported_image'],
        [edit(text), ...problems, 'body.image not_a_file'],
        [
          send(400, 'POST /posts/create', rawForm(title, pdf)),
          'body.title blank',
          'body.text required',
          'body.image unsupported_image',
        ],
        [
          send(400, 'PUT /profiles/me', rawForm({ name: 'name', content: '' }, pdf)),
          'body.name blank',
          'body.image unsupported_image',
        ],
      ];
    },
  ],
  [
    'images',
    'unsupported_image and image_type_mismatch for files',
    async (users) => {
      const { send } = await users.sharedUser('ada');
      const edit = (content: string | Uint8Array, type: string) =>
        send(400, `PUT /posts/edit?id=${UNUSED_ID}`, rawForm({ name: 'image', content, fileName: 'a.png', type }));
      return [
        [edit('%PDF-1.7', 'image/png'), 'body.image unsupported_image'],
        [edit(samples.png, 'image/gif'), 'body.image image_type_mismatch'],
      ];
    },
  ],
];

export const codeRules = GROUPS.map(([id, description, send]) =>
  rule(
    `fields.codes.${id}`,
    `A 400 response lists one problem for each cause, with the codes ${description}.`,
    async (users) => {
      const cases = await send(users);
      await Promise.all(cases.map(async ([response, ...problems]) => expectProblemCodes(await response, ...problems)));
    },
  ),
);
