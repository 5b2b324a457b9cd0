import { expectProblemCodes } from '../../expect.js';
import { blackPng, riff, u16, u32, vp8x, webpChunk, webpImage } from '../../image-builders.js';
import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import { expectStored, FORMS, type Form, imagePart } from './forms.js';

const MAX_SIDE_PIXELS = 16_384;
/** The side of a square image with the maximum of 100,000,000 pixels. */
const MAX_SQUARE_SIDE_PIXELS = 10_000;

/** Returns a copy of an image with other bytes at an offset. */
const overwrite = (image: Buffer, offset: number, bytes: Buffer) =>
  Buffer.concat([image.subarray(0, offset), bytes, image.subarray(offset + bytes.length)]);

const u16le = (value: number) => u16(value).reverse();

/** Functions that return an image whose header declares these dimensions. Its data may have others. */
const DECLARED: [type: string, create: (width: number, height: number) => Buffer][] = [
  ['png', blackPng],
  [
    'jpeg',
    (width, height) =>
      overwrite(
        samples.jpeg,
        samples.jpeg.indexOf('\xff\xc0', 0, 'latin1') + 5,
        Buffer.concat([u16(height), u16(width)]),
      ),
  ],
  [
    'gif',
    (width, height) => {
      const frame = samples.gif.indexOf(',', 19) + 5;
      return overwrite(samples.gif, frame, Buffer.concat([u16le(width), u16le(height)]));
    },
  ],
  ['gif', (width, height) => overwrite(samples.gif, 6, Buffer.concat([u16le(width), u16le(height)]))],
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
const largestLossyWebp = overwrite(samples.webp, 26, Buffer.concat([u16le(16_383), u16le(16_383)]));

export const dimensionRules = [
  rule(
    'images.upload.dimensions',
    'An image whose header declares a width or height of more than 16,384 pixels returns 400.',
    async (users) => {
      const form = FORMS[0] as Form;
      for (const [type, create] of DECLARED) {
        for (const [width, height] of [
          [MAX_SIDE_PIXELS + 1, 1],
          [1, MAX_SIDE_PIXELS + 1],
        ] as const) {
          const response = await form.send(users, 400, imagePart(create(width, height), `image/${type}`));
          expectProblemCodes(response, 'body.image too_many_pixels');
        }
      }
    },
  ),

  ...FORMS.map((form) =>
    rule(
      `uploads.dimensions.${form.id}`,
      `${form.title} accepts images of exactly 16,384 pixels in width or height and of exactly 100,000,000 pixels. An image with more pixels returns 400.`,
      async (users) => {
        for (const [width, height] of [
          [MAX_SIDE_PIXELS, 1],
          [1, MAX_SIDE_PIXELS],
          [MAX_SQUARE_SIDE_PIXELS, MAX_SQUARE_SIDE_PIXELS],
        ] as const)
          await expectStored(users, form, blackPng(width, height), 'image/png', 'image/png');
        for (const [larger, type] of [
          [blackPng(MAX_SQUARE_SIDE_PIXELS + 1, MAX_SQUARE_SIDE_PIXELS), 'image/png'],
          [losslessWebp(MAX_SIDE_PIXELS, MAX_SIDE_PIXELS), 'image/webp'],
          [largestLossyWebp, 'image/webp'],
        ] as const)
          expectProblemCodes(await form.send(users, 400, imagePart(larger, type)), 'body.image too_many_pixels');
      },
    ),
  ),
];
