import { pngHeader } from '../../../support/png.js';
import { blackPng, riff, samples, u16, u32, vp8x, webpChunk, webpImage } from '../../client/index.js';
import { expectProblemCodes } from '../../expect.js';
import { rule } from '../../rule.js';
import { CREATE_FORM, expectStored, formRules, getUploader, imagePart } from './forms.js';

/** Returns a copy of an image with other bytes at an offset. */
const overwrite = (image: Buffer, offset: number, bytes: Buffer) =>
  Buffer.concat([image.subarray(0, offset), bytes, image.subarray(offset + bytes.length)]);

const u16s = (...values: number[]) => Buffer.concat(values.map(u16));
const u16les = (...values: number[]) => Buffer.concat(values.map((value) => u16(value).reverse()));

/** Returns a PNG with the data of another. */
const pngOf = (width: number, height: number) =>
  Buffer.concat([samples.png.subarray(0, 8), pngHeader(width, height), samples.png.subarray(33)]);

/** Functions that return an image whose header declares these dimensions. Its data may have others. */
const DECLARED: [type: string, create: (width: number, height: number) => Buffer][] = [
  ['png', pngOf],
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

/** Dimensions of exactly 268,435,456 pixels, and of a few more. */
const ACCEPTED = [
  [16_384, 16_384],
  [32_768, 8192],
] as const;
const REFUSED = [
  [16_385, 16_384],
  [16_384, 16_385],
  [65_535, 65_535],
] as const;
/** The number of pixels is 0 in 32 bits. */
const OVERFLOWING = [65_536, 65_536] as const;

export const dimensionRules = [
  rule(
    'images.upload.dimensions',
    'An image of any type is accepted if its header declares at most 268,435,456 pixels, and returns 400 if it declares more.',
    async (users) => {
      const { send } = await getUploader(users, CREATE_FORM);
      const accepted: [type: string, image: Buffer][] = [['webp', losslessWebp(16_384, 16_384)]];
      const refused: [type: string, image: Buffer][] = [];
      for (const [type, create] of DECLARED) {
        accepted.push(...ACCEPTED.map(([width, height]): [string, Buffer] => [type, create(width, height)]));
        refused.push(...REFUSED.map(([width, height]): [string, Buffer] => [type, create(width, height)]));
        if (type !== 'jpeg' && type !== 'gif') refused.push([type, create(...OVERFLOWING)]);
      }
      for (const [type, image] of accepted) await send(201, imagePart(image, `image/${type}`));
      for (const [type, image] of refused)
        expectProblemCodes(await send(400, imagePart(image, `image/${type}`)), 'body.image too_many_pixels');
    },
  ),

  ...formRules(
    'dimensions',
    'accepts images of up to 268,435,456 pixels, whatever their sides are. An image with more pixels returns 400.',
    async (uploader) => {
      for (const image of [blackPng(32_768, 1), blackPng(1280, 18_000)])
        await expectStored(uploader, image, 'image/png', 'image/png');
      const larger = imagePart(pngOf(16_385, 16_384), 'image/png');
      expectProblemCodes(await uploader.send(400, larger), 'body.image too_many_pixels');
    },
  ),
];
