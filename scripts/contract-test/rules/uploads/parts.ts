import { latin1, samples } from '../../client/index.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { bodyOfType, rawForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { CREATE_FORM, EMPTY_FILE_INPUT, formRules, getUploader, imagePart, textPart } from './forms.js';

const PNG = imagePart(samples.png, 'image/png');

/** File names that a parser of headers may mistake for something else. */
const FILE_NAMES = [
  'harbour.png',
  'harbour; name=title.png',
  'harbour\\".png',
  'häfen 🐟 harbour.png',
  '../../harbour.png',
  'C:\\pictures\\harbour.png',
  'harbour',
  `${'harbour'.repeat(20)}.png`,
];

/** The charsets of texts, and their encodings. */
const CHARSETS: [charset: string, encoding: BufferEncoding][] = [
  ...['utf-8', 'UTF8', 'us-ascii', 'ascii'].map((charset): [string, BufferEncoding] => [charset, 'utf8']),
  ...['ISO-8859-1', '"latin1"'].map((charset): [string, BufferEncoding] => [charset, 'latin1']),
  ['utf-16le', 'utf16le'],
];
const OTHER_CHARSETS = ['windows-1252', 'iso-8859-15', 'utf-16', 'utf-16be', 'iso-2022-jp', 'utf-7', 'base64'];

/** Returns a form with this boundary, and with these parameters of its media type. */
const withBoundary = ({ body }: { body: Buffer }, boundary: string, parameters: string) => {
  const bytes = latin1(body.toString('latin1').replaceAll('--form', `--${boundary}`));
  return bodyOfType(`multipart/form-data${parameters}`, bytes);
};

export const partRules = [
  ...formRules(
    'empty-input',
    'treats an empty file input (filename="", or no file name and application/octet-stream; no bytes) as no file, also before and after an image, and next to remove_image=true.',
    async ({ form, otherField, send, submit, readImage }) => {
      const expected = form.id === 'create' ? null : await readImage();
      const fields = form.id === 'create' ? [] : [otherField];
      for (const emptyInput of [
        EMPTY_FILE_INPUT,
        { ...EMPTY_FILE_INPUT, type: 'image/png' },
        { ...EMPTY_FILE_INPUT, type: 'text/plain' },
        { name: 'image', content: '', type: 'application/octet-stream' },
      ]) {
        const { response, image } = await submit(emptyInput, ...fields);
        expectEqual(response, 'the image', image, expected);
      }
      if (form.id !== 'create') await send(400, EMPTY_FILE_INPUT);
      if (form.canRemove) {
        const { response, image } = await submit(EMPTY_FILE_INPUT, textPart('remove_image', 'true'));
        expectEqual(response, 'the image', image, null);
      }
      const { response, image } = await submit(EMPTY_FILE_INPUT, PNG, EMPTY_FILE_INPUT);
      expectThat(image, 'the image between the empty inputs', response);
    },
  ),

  ...formRules(
    'names',
    'accepts an image with any file name and gives it a random one, which is not sequential and does not contain the uploaded name.',
    async ({ submit }) => {
      const names: string[] = [];
      // Each is used twice, because eight random names would be in order in one of 20,160 runs.
      for (const fileName of [...FILE_NAMES, ...FILE_NAMES]) {
        const { response, image } = await submit({ ...PNG, fileName });
        const path = image ?? '';
        const name = path.split('/').at(-1) ?? '';
        const stem = name.split('.')[0] ?? '';
        // 128 bits in hexadecimal or in base64.
        const minLength = /^[0-9a-f]*$/.test(stem) ? 32 : 22;
        expectThat(stem.length >= minLength, 'a name of 128 random bits or more', response);
        expectThat(!/harbour/i.test(path), 'a name without the uploaded name', response);
        const similar = names.find((other) => other.slice(0, 8) === name.slice(0, 8));
        expectThat(!similar, `a name that does not begin like ${similar}`, response);
        names.push(name);
      }
      const sorted = [...names].sort();
      const isOrdered = [sorted, [...sorted].reverse()].some((order) => order.join() === names.join());
      expectThat(!isOrdered, `unordered names, not ${names.join(', ')}`);
    },
  ),

  ...formRules(
    'parts',
    'returns 400 for an image field that is repeated, misnamed or not a file, and for a text field that is a file.',
    async ({ otherField, send }) => {
      expectProblemCodes(await send(400, PNG, PNG), 'body.image repeated');
      expectProblemCodes(await send(400, { ...PNG, name: 'picture' }), 'body.picture unknown_field');
      expectProblemCodes(await send(400, { ...PNG, name: 'image[]' }), 'body.image[] unknown_field');
      expectProblemCodes(await send(400, textPart('image', 'x')), 'body.image not_a_file');
      const { name } = otherField;
      expectProblems(await send(400, PNG, { ...PNG, name }), `body.${name}`);
    },
  ),

  rule(
    'uploads.forms.charset',
    `A text may declare a charset: ${CHARSETS.map(([charset]) => charset).join(', ')}. US-ASCII counts as UTF-8. Bytes that are invalid in it return 400 invalid_encoding, and so does any other charset, with its name in the message. Without one, a text is UTF-8.`,
    async (users) => {
      const { send } = (await getUploader(users, CREATE_FORM)).user;
      const create = (status: number, content: Buffer, charset?: string) => {
        const type = charset && `text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit`;
        const title = { name: 'title', content, ...(type && { type }) };
        return send(status, 'POST /posts/create', rawForm(title, textPart('text', 'Grüße')));
      };
      for (const [charset, encoding] of CHARSETS) {
        const response = await create(201, Buffer.from('Grüße', encoding), charset);
        expectEqual(response, 'title and text', [response.body.title, response.body.text], ['Grüße', 'Grüße']);
      }
      for (const [bytes, charset] of [
        [latin1('Gr\xfc\xdfe'), undefined],
        [latin1('Gr\xfc\xdfe'), 'us-ascii'],
        [latin1('G\0r'), 'utf-16le'],
      ] as const)
        expectProblemCodes(await create(400, bytes, charset), 'body.title invalid_encoding');
      for (const charset of OTHER_CHARSETS) {
        const response = await create(400, latin1('5 \x80'), charset);
        const { message } = expectProblemCodes(response, 'body.title invalid_encoding').body.errors[0];
        expectThat(message.includes(charset), `a message with ${charset}`, response);
      }
    },
  ),

  rule(
    'uploads.forms.boundary',
    'The boundary of a form is the parameter of that name, not the end of another one, and has at most 70 characters. A form without one returns 400 malformed_form, and so does a part whose Content-Disposition is not form-data, wherever it stands.',
    async (users) => {
      const { send } = (await getUploader(users, CREATE_FORM)).user;
      const [title, text] = [textPart('title', 'A title'), textPart('text', 'A text')];
      const whole = rawForm(title, text);
      const { body } = rawForm(title, text, textPart('author_id', '1'));
      const hiding = {
        body: latin1(body.toString('latin1').replace('form-data; name="author', 'attachment; name="author')),
      };
      const create = (status: number, form: typeof hiding, parameters: string, boundary = 'form') =>
        send(status, 'POST /posts/create', withBoundary(form, boundary, parameters));
      for (const parameters of ['; xboundary=zz; boundary=form', '; x="; boundary=zz"; boundary=form']) {
        await create(201, whole, parameters);
        expectProblemCodes(await create(400, hiding, parameters), 'body. malformed_form');
      }
      for (const parameters of ['', '; xboundary=form', '; boundary=fo rm', `; xboundary=${'a'.repeat(700)}`])
        for (const form of [whole, hiding])
          expectProblemCodes(await create(400, form, parameters), 'body. malformed_form');
      const tooLong = 'f'.repeat(71);
      expectProblemCodes(await create(400, whole, `; boundary=${tooLong}`, tooLong), 'body. malformed_form');
    },
  ),

  rule(
    'uploads.forms.syntax',
    'A form may have a boundary of up to 70 characters, quoted or not, text fields that declare text/plain, and a Content-Transfer-Encoding of 8bit.',
    async (users) => {
      const { send } = (await getUploader(users, CREATE_FORM)).user;
      const form = rawForm(
        { name: 'title', content: 'A title', type: 'text/plain; charset=us-ascii' },
        { name: 'text', content: 'Grüße', type: 'text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit' },
        PNG,
      );
      for (const [parameters, boundary] of [
        ['; boundary=x', 'x'],
        ['; Boundary="x"', 'x'],
        [`; boundary=${'-'.repeat(70)}`, '-'.repeat(70)],
        [`; boundary="a (b)+,./:=?_'"`, `a (b)+,./:=?_'`],
      ] as const) {
        const response = await send(201, 'POST /posts/create', withBoundary(form, boundary, parameters));
        expectEqual(response, 'title and text', [response.body.title, response.body.text], ['A title', 'Grüße']);
      }
    },
  ),
];
