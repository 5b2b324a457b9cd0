import { blackPng, riff, samples, u16, u32, vp8x, webpChunk, webpImage } from '../../client/index.js';
import { expectProblemCodes } from '../../expect.js';
import { rule } from '../../rule.js';
import { CREATE_FORM, expectStored, formRules, getUploader, imagePart } from './forms.js';

const MAX_SIDE_PIXELS = 16_384;
/** The side of a square image with the maximum of 100,000,000 pixels. */
const MAX_SQUARE_SIDE_PIXELS = 10_000;

/** Returns a copy of an image with other bytes at an offset. */
const overwrite = (image: Buffer, offset: number, bytes: Buffer) =>
  Buffer.concat([image.subarray(0, offset), bytes, image.subarray(offset + bytes.length)]);

const u16s = (...values: number[]) => Buffer.concat(values.map(u16));
const u16les = (...values: number[]) => Buffer.concat(values.map((value) => u16(value).reverse()));

/** Functions that return an image whose header declares these dimensions. Its data may have others. */
const DECLARED: [type: string, create: (width: number, height: number) => Buffer][] = [
  ['png', blackPng],
  [
    'jpeg',
    (width, height) => overwrite(samples.jpeg, samples.jpeg.indexOf('\xff\xc0', 0, 'latin1') + 5, u16s(height, width)),
  ],
  // In a GIF, both the screen and the frame have dimensions.
  ['gif', (width, height) => overwrite(samples.gif, 6, u16les(width, height))],
  ['gif', (width, height) => overwrite(samples.gif, samples.gif.indexOf(',', 19) + 5, u16les(width, height))],
  ['webp', (width, height) => riff(vp8x(0, width, height), webpImage)],
  [
    'avif',
    (width, height) =>
      overwrite(samples.avif, samples.avif.indexOf('ispe') + 8, Buffer.concat([u32(width), u32(height)])),
  ],
];

/** Returns the header of a lossless WebP. */
function losslessWebp(width: number, height: number): Buffer {
  const dimensions = ((height - 1) << 14) | (width - 1);
  return riff(webpChunk('VP8L', Buffer.concat([Buffer.from([0x2f]), u32(dimensions).reverse(), Buffer.alloc(5)])));
}

/** The sample WebP, which is lossy, with the largest dimensions that its header can declare. */
const largestLossyWebp = overwrite(samples.webp, 26, u16les(16_383, 16_383));

export const dimensionRules = [
  rule(
    'images.upload.dimensions',
    'An image whose header declares a width or height of more than 16,384 pixels returns 400.',
    async (users) => {
      const { send } = await getUploader(users, CREATE_FORM);
      for (const [type, create] of DECLARED) {
        for (const image of [create(MAX_SIDE_PIXELS + 1, 1), create(1, MAX_SIDE_PIXELS + 1)]) {
          expectProblemCodes(await send(400, imagePart(image, `image/${type}`)), 'body.image too_many_pixels');
        }
      }
    },
  ),

  ...formRules(
    'dimensions',
    'accepts images of exactly 16,384 pixels in width or height and of exactly 100,000,000 pixels. An image with more pixels returns 400.',
    async (uploader) => {
      for (const image of [
        blackPng(MAX_SIDE_PIXELS, 1),
        blackPng(1, MAX_SIDE_PIXELS),
        blackPng(MAX_SQUARE_SIDE_PIXELS, MAX_SQUARE_SIDE_PIXELS),
      ]) {
        await expectStored(uploader, image, 'image/png', 'image/png');
      }
      for (const larger of [
        imagePart(blackPng(MAX_SQUARE_SIDE_PIXELS + 1, MAX_SQUARE_SIDE_PIXELS), 'image/png'),
        imagePart(losslessWebp(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS), 'image/webp'),
        imagePart(largestLossyWebp, 'image/webp'),
      ]) {
        expectProblemCodes(await uploader.send(400, larger), 'body.image too_many_pixels');
      }
    },
  ),
];
