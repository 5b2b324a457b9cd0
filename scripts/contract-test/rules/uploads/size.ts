import { expectCode, expectEqual, expectThat, SkippedError } from '../../expect.js';
import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import { ascii, expectStored, FORMS, imagePart } from './forms.js';

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Returns a valid GIF of this size in bytes. It repeats frames with and without a local color table. */
function createGif(sizeBytes: number): Buffer {
  const header = samples.gif.subarray(0, 19);
  const frame = ascii('\x21\xf9\x04\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b').subarray(0, -1);
  const table = Buffer.concat([ascii('\x2c\0\0\0\0\x01\0\x01\0\x80'), Buffer.alloc(6), ascii('\x02\x02\x44\x01\0')]);
  // The two frame lengths are coprime, so they add up to every sufficiently large size.
  const remaining = sizeBytes - header.length - 1;
  let frames = Math.floor(remaining / frame.length);
  while ((remaining - frames * frame.length) % table.length !== 0) frames -= 1;
  const tables = (remaining - frames * frame.length) / table.length;
  const repeat = (part: Buffer, count: number) => Buffer.alloc(part.length * count, part);
  return Buffer.concat([header, repeat(frame, frames), repeat(table, tables), ascii(';')]);
}

export const sizeRules = FORMS.flatMap((form) => [
  rule(
    `uploads.size.accepted.${form.id}`,
    `${form.title} accepts an image of exactly 5 MiB.`,
    async (users) => void (await expectStored(users, form, createGif(MAX_IMAGE_BYTES), 'image/gif', 'image/gif')),
  ),

  rule(
    `uploads.size.refused.${form.id}`,
    `${form.title} returns 413 file_too_large for an image one byte larger than 5 MiB, and stores nothing.`,
    async (users) => {
      const before = await form.readImage(users);
      const response = await form.send(
        users,
        [form.successStatus, 413],
        imagePart(createGif(MAX_IMAGE_BYTES + 1), 'image/gif'),
      );
      if (response.status !== 413) {
        const larger = await form.send(
          users,
          [form.successStatus, 413],
          imagePart(createGif(2 * MAX_IMAGE_BYTES), 'image/gif'),
        );
        expectThat(larger.status !== 413, '413 for an image one byte larger than 5 MiB', response);
        throw new SkippedError('the service is configured to accept larger images');
      }
      expectCode(response, 'file_too_large');
      expectEqual(response, 'the image, as before', await form.readImage(users), before);
    },
  ),
]);
