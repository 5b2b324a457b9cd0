import { type CheckedResponse, latin1, samples } from '../../client/index.js';
import { expectCode, expectEqual, expectProblemCodes, expectThat, SkippedError } from '../../expect.js';
import { CHUNKED, rawForm } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { CREATE_FORM, expectStored, formRules, getUploader, imagePart, textPart, type Uploader } from './forms.js';

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const MAX_FORM_BYTES = MAX_IMAGE_BYTES + 256 * 1024;

/** Returns a valid GIF of this size in bytes. It repeats frames with and without a local color table. */
function createGif(sizeBytes: number): Buffer {
  const header = samples.gif.subarray(0, 19);
  const frame = latin1('\x21\xf9\x04\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0');
  const table = Buffer.concat([latin1('\x2c\0\0\0\0\x01\0\x01\0\x80'), Buffer.alloc(6), latin1('\x02\x02\x44\x01\0')]);
  // The two frame lengths are coprime, so they add up to every sufficiently large size.
  const remaining = sizeBytes - header.length - 1;
  let frames = Math.floor(remaining / frame.length);
  while ((remaining - frames * frame.length) % table.length !== 0) frames -= 1;
  const tables = (remaining - frames * frame.length) / table.length;
  const repeat = (part: Buffer, count: number) => Buffer.alloc(part.length * count, part);
  return Buffer.concat([header, repeat(frame, frames), repeat(table, tables), latin1(';')]);
}

/**
 * Sends an image one byte larger than 5 MiB, and returns the 413.
 *
 * @throws SkippedError if the service accepts much larger images
 */
async function sendTooLarge({ form, send }: Uploader): Promise<CheckedResponse> {
  const sendGif = (sizeBytes: number) => send([form.successStatus, 413], imagePart(createGif(sizeBytes), 'image/gif'));
  const response = await sendGif(MAX_IMAGE_BYTES + 1);
  if (response.status === 413) return response;
  const larger = await sendGif(2 * MAX_IMAGE_BYTES);
  expectThat(larger.status !== 413, '413 for an image one byte larger than 5 MiB', response);
  throw new SkippedError('the service is configured to accept larger images');
}

export const sizeRules = [
  ...formRules('size.accepted', 'accepts an image of exactly 5 MiB.', async (uploader) => {
    await expectStored(uploader, createGif(MAX_IMAGE_BYTES), 'image/gif', 'image/gif');
  }),

  ...formRules(
    'size.refused',
    'returns 413 file_too_large, with a message that names the limit in bytes, for an image one byte larger than 5 MiB, and stores nothing.',
    async (uploader) => {
      const before = await uploader.readImage();
      const response = expectCode(await sendTooLarge(uploader), 'file_too_large');
      expectThat(response.body.message.includes(`${MAX_IMAGE_BYTES} bytes`), 'the limit in the message', response);
      expectEqual(response, 'the image, as before', await uploader.readImage(), before);
    },
  ),

  rule(
    'uploads.size.form',
    'A form may contain an image of exactly 5 MiB and the longest title and text. A form of more than 5 MiB + 256 KiB returns 413 body_too_large, with a message that names the limit in bytes, unless its image is too large.',
    async (users) => {
      const uploader = await getUploader(users, CREATE_FORM);
      const { send } = uploader.user;
      const [title, text] = ['🐟'.repeat(200), '🐟'.repeat(10_000)];
      const image = imagePart(createGif(MAX_IMAGE_BYTES), 'image/gif');
      const parts = [textPart('title', title), textPart('text', text), image];
      const response = await send(201, 'POST /posts/create', rawForm(...parts));
      expectEqual(response, 'title and text', [response.body.title, response.body.text], [title, text]);
      // Skips the rest if the service accepts larger images, and thus larger forms.
      await sendTooLarge(uploader);
      const emptyText = rawForm(textPart('title', title), textPart('text', ''));
      const sendForm = (status: number, sizeBytes: number, framing: Record<string, string> = {}) => {
        const longText = textPart('text', 'x'.repeat(sizeBytes - emptyText.body.length));
        const { body, headers } = rawForm(textPart('title', title), longText);
        return send(status, 'POST /posts/create', { body, headers: { ...headers, ...framing } });
      };
      expectProblemCodes(await sendForm(400, MAX_FORM_BYTES), 'body.text too_long');
      for (const framing of [{}, CHUNKED]) {
        const response = expectCode(await sendForm(413, MAX_FORM_BYTES + 1, framing), 'body_too_large');
        expectThat(response.body.message.includes(`${MAX_FORM_BYTES} bytes`), 'the limit in the message', response);
      }
      const hugeImage = rawForm(imagePart(Buffer.alloc(2 * MAX_FORM_BYTES, samples.gif), 'image/gif'));
      expectCode(await send(413, 'POST /posts/create', hugeImage), 'file_too_large');
    },
  ),
];
