import { samples } from '../../client/index.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { contentType, rawForm } from '../../fixtures.js';
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

export const partRules = [
  ...formRules(
    'empty-input',
    'treats an empty file input (filename="", no bytes) as no file, also before and after an image, and next to remove_image=true.',
    async ({ form, otherField, send, submit, readImage }) => {
      const expected = form.id === 'create' ? null : await readImage();
      const fields = form.id === 'create' ? [] : [otherField];
      for (const emptyInput of [
        EMPTY_FILE_INPUT,
        { ...EMPTY_FILE_INPUT, type: 'image/png' },
        { ...EMPTY_FILE_INPUT, type: 'text/plain' },
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
    'A text that declares a charset, such as ISO-8859-1, is decoded with it. Without one, it is UTF-8.',
    async (users) => {
      const { send } = (await getUploader(users, CREATE_FORM)).user;
      const title = { name: 'title', content: Buffer.from('Grüße', 'latin1') };
      const latin1 = { ...title, type: 'text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit' };
      const response = await send(201, 'POST /posts/create', rawForm(latin1, textPart('text', 'Grüße')));
      expectEqual(response, 'title and text', [response.body.title, response.body.text], ['Grüße', 'Grüße']);
      const undeclared = await send(400, 'POST /posts/create', rawForm(title, textPart('text', 'Grüße')));
      expectProblemCodes(undeclared, 'body.title invalid_encoding');
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
      for (const [parameter, boundary] of [
        ['boundary=x', 'x'],
        ['Boundary="x"', 'x'],
        [`boundary=${'-'.repeat(70)}`, '-'.repeat(70)],
        [`boundary="a (b)+,./:=?_'"`, `a (b)+,./:=?_'`],
      ] as const) {
        const body = Buffer.from(form.body.toString('latin1').replaceAll('--form', `--${boundary}`), 'latin1');
        const headers = contentType(`multipart/form-data; ${parameter}`);
        const response = await send(201, 'POST /posts/create', { body, headers });
        expectEqual(response, 'title and text', [response.body.title, response.body.text], ['A title', 'Grüße']);
      }
    },
  ),
];
