import type { CheckedResponse } from '../../exchange.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { contentType, rawForm } from '../../fixtures.js';
import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import { EMPTY_FILE_INPUT, FORMS, getUploader, imagePart, otherField, textPart } from './forms.js';

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

export const partRules = FORMS.flatMap((form) => [
  rule(
    `uploads.empty-input.${form.id}`,
    `${form.title} treats an empty file input (filename="", no bytes) as no file, also before and after an image, and next to remove_image=true.`,
    async (users) => {
      const expected = form.id === 'create' ? null : await form.readImage(users);
      const fields = form.id === 'create' ? [] : [otherField(form)];
      for (const emptyInput of [
        EMPTY_FILE_INPUT,
        { ...EMPTY_FILE_INPUT, type: 'image/png' },
        imagePart(Buffer.alloc(0), undefined, ''),
      ]) {
        const response = await form.send(users, form.successStatus, emptyInput, ...fields);
        expectEqual(response, 'the image', response.body[form.field], expected);
      }
      if (form.id !== 'create') await form.send(users, 400, EMPTY_FILE_INPUT);
      if (form.canRemove) {
        const removal = [EMPTY_FILE_INPUT, textPart('remove_image', 'true')];
        const response = await form.send(users, form.successStatus, ...removal);
        expectEqual(response, 'the image', response.body[form.field], null);
      }
      const image = imagePart(samples.png, 'image/png');
      const response = await form.send(users, form.successStatus, EMPTY_FILE_INPUT, image, EMPTY_FILE_INPUT);
      expectThat(response.body[form.field], 'the image between the empty inputs', response);
    },
  ),

  rule(
    `uploads.names.${form.id}`,
    `${form.title} accepts an image with any file name and gives it a random one, which is not sequential and does not contain the uploaded name.`,
    async (users) => {
      const names: string[] = [];
      let last: CheckedResponse | undefined;
      for (const fileName of FILE_NAMES) {
        last = await form.send(users, form.successStatus, imagePart(samples.png, 'image/png', fileName));
        const path: string = last.body[form.field];
        const stem = path.split('/').at(-1)?.split('.')[0] ?? '';
        // 128 bits in hexadecimal or in base64.
        const minLength = /^[0-9a-f]*$/.test(stem) ? 32 : 22;
        expectThat(stem.length >= minLength, 'a name of 128 random bits or more', last);
        expectThat(!/harbour/i.test(path), 'a name without the uploaded name', last);
        names.push(path.split('/').at(-1) ?? '');
      }
      if (!last) return;
      const sorted = [...names].sort();
      const hasCommonPrefix = sorted.some(
        (name, index) => index > 0 && name.slice(0, 8) === sorted[index - 1]?.slice(0, 8),
      );
      expectThat(!hasCommonPrefix, `names without a common prefix, not ${names.join(', ')}`, last);
      const ordered = [sorted, [...sorted].reverse()].some((order) => order.join() === names.join());
      expectThat(!ordered, `unordered names, not ${names.join(', ')}`, last);
    },
  ),

  rule(
    `uploads.parts.${form.id}`,
    `${form.title} returns 400 for an image field that is repeated, misnamed or not a file, and for a text field that is a file.`,
    async (users) => {
      const image = imagePart(samples.png, 'image/png');
      expectProblemCodes(await form.send(users, 400, image, image), 'body.image repeated');
      expectProblemCodes(await form.send(users, 400, { ...image, name: 'picture' }), 'body.picture unknown_field');
      expectProblemCodes(await form.send(users, 400, { ...image, name: 'image[]' }), 'body.image[] unknown_field');
      expectProblemCodes(await form.send(users, 400, textPart('image', 'x')), 'body.image not_a_file');
      const { name } = otherField(form);
      const response = await form.send(users, 400, image, { ...image, name });
      expectProblems(response, `body.${name}`);
    },
  ),
]);

export const formSyntaxRule = rule(
  'uploads.forms.syntax',
  'A form may have a boundary of up to 70 characters, quoted or not, text fields that declare text/plain, and a Content-Transfer-Encoding of 8bit.',
  async (users) => {
    const { send } = await getUploader(users);
    const form = rawForm(
      { name: 'title', content: 'A title', type: 'text/plain; charset=us-ascii' },
      { name: 'text', content: 'Grüße', type: 'text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit' },
      imagePart(samples.png, 'image/png'),
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
);
