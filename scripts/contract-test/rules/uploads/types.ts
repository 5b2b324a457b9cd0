import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import { ascii, expectRejected, expectStored, FORMS } from './forms.js';

/** The accepted image types: sample bytes, the media types they may be declared as, and the type they are served as. */
const IMAGE_TYPES = [
  { id: 'png', bytes: samples.png, served: 'image/png', declared: ['image/png', 'IMAGE/PNG; q=1', 'image/apng'] },
  { id: 'apng', bytes: samples.apng, served: 'image/png', declared: ['image/png', 'image/apng'] },
  { id: 'jpeg', bytes: samples.jpeg, served: 'image/jpeg', declared: ['image/jpeg', 'image/jpg'] },
  { id: 'gif', bytes: samples.gif, served: 'image/gif', declared: ['image/gif'] },
  { id: 'webp', bytes: samples.webp, served: 'image/webp', declared: ['image/webp'] },
  { id: 'avif', bytes: samples.avif, served: 'image/avif', declared: ['image/avif'] },
];
/** Types of a part that do not declare an image type. */
const UNDECLARED_TYPES = ['application/octet-stream', undefined];
const DECLARED_TYPES = [
  ...new Set(IMAGE_TYPES.map(({ served }) => served)),
  'text/plain',
  'application/pdf',
  'video/mp4',
];

const ftyp = (...brands: string[]) => {
  const box = Buffer.concat([Buffer.alloc(4), ascii(`ftyp${brands[0]}\0\0\0\0${brands.slice(1).join('')}`)]);
  box.writeUInt32BE(box.length);
  return Buffer.concat([box, Buffer.alloc(64)]);
};

/** Files that only start like an image, by the type that their signature determines. They need not be decodable. */
const SIGNATURES: [type: string, ...files: Buffer[]][] = [
  ['image/png', ascii('\x89PNG\r\n\x1a\nno chunk')],
  ['image/jpeg', ...Array.from('\xdb\xe1\xee\xff', (marker) => ascii(`\xff\xd8\xff${marker}no segment`))],
  ['image/gif', ascii('GIF87ano screen'), ascii('GIF89ano screen')],
  ['image/webp', ...['VP8 ', 'VP8L', 'VP8X', 'none'].map((chunk) => ascii(`RIFF\xff\xff\0\0WEBP${chunk}`))],
  [
    'image/avif',
    ftyp('avif'),
    ftyp('avis', 'msf1'),
    ftyp('mif1', ...Array(100).fill('miaf'), 'avif'),
    ftyp('msf1', 'avis'),
  ],
];

/** Files that are not accepted images, and the type that they are declared as. */
const NEAR_MISSES: [id: string, description: string, bytes: Buffer, declared: string][] = [
  ['wav', 'WAV (RIFF, like WebP)', ascii('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'), 'image/webp'],
  ['avi', 'AVI (RIFF, like WebP)', ascii('RIFF\x24\0\0\0AVI LIST\x10\0\0\0'), 'image/webp'],
  ['riff', 'RIFF without a form type', ascii('RIFF\x24\0\0\0'), 'image/webp'],
  ['mp4', 'MP4 (with an ftyp box, like AVIF)', ftyp('isom', 'isom', 'mp42'), 'image/avif'],
  ['heic', 'HEIC (with an ftyp box, like AVIF)', ftyp('heic', 'mif1', 'heic'), 'image/avif'],
  ['mov', 'QuickTime (with an ftyp box, like AVIF)', ftyp('qt  ', 'qt  '), 'image/avif'],
  ['tiff', 'TIFF', ascii('II*\0\x08\0\0\0\0\0'), 'image/jpeg'],
  ['tiff-big-endian', 'big-endian TIFF', ascii('MM\0*\0\0\0\x08\0\0'), 'image/png'],
  ['svg', 'SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
  ['svg-declared', 'SVG declared as SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['pdf', 'PDF', ascii('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'), 'image/jpeg'],
  ['bmp', 'BMP', ascii('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0'), 'image/gif'],
  ['ico', 'ICO', ascii('\0\0\x01\0\x01\0\x10\x10'), 'image/png'],
  ['jpeg-xl', 'JPEG XL', ascii('\xff\x0a\xfa\x1f\x01\x90'), 'image/jpeg'],
  ['jpeg-2000', 'JPEG 2000', ascii('\0\0\0\x0cjP  \r\n\x87\n'), 'image/jpeg'],
  [
    'gif-version',
    'a GIF of an unknown version',
    Buffer.concat([ascii('GIF88a'), samples.gif.subarray(6)]),
    'image/gif',
  ],
  ['png-cut', 'the first seven bytes of a PNG', samples.png.subarray(0, 7), 'image/png'],
  ['png-text-mode', 'a PNG with converted line breaks', ascii('\x89PNG\n\x1a\n\0\0\0\rIHDR'), 'image/png'],
  ['jpeg-cut', 'the first two bytes of a JPEG', samples.jpeg.subarray(0, 2), 'image/jpeg'],
  ['shifted', 'a PNG after one other byte', Buffer.concat([ascii(' '), samples.png]), 'image/png'],
  ['html', 'HTML', ascii('<!doctype html><script>alert(1)</script>'), 'image/gif'],
  ['empty', 'an empty file with a name', Buffer.alloc(0), 'image/png'],
];

export const acceptedTypeRules = FORMS.flatMap((form) =>
  IMAGE_TYPES.map(({ id, bytes, served, declared }) =>
    rule(
      `uploads.type.${id}.${form.id}`,
      `${form.title} accepts ${id.toUpperCase()} declared as ${[...declared, 'application/octet-stream'].join(', ')} or without a type, and serves it unchanged as ${served}. Any other declared type returns 400.`,
      async (users) => {
        for (const type of [...declared, ...UNDECLARED_TYPES]) await expectStored(users, form, bytes, type, served);
        const wrong = DECLARED_TYPES.filter((type) => type !== served);
        await expectRejected(
          users,
          form,
          wrong.map((type) => [bytes, type]),
        );
      },
    ),
  ),
);

export const signatureRules = FORMS.map((form) =>
  rule(
    `uploads.signatures.${form.id}`,
    `${form.title} accepts a file with the signature of an image, even if it cannot be decoded, and serves it unchanged: PNG, JPEG, GIF87a and GIF89a, WebP, and AVIF with avif or avis as major or compatible brand.`,
    async (users) => {
      for (const [type, ...files] of SIGNATURES) {
        for (const file of files) await expectStored(users, form, file, type, type);
      }
    },
  ),
);

export const rejectedTypeRules = FORMS.map((form) =>
  rule(
    `uploads.no-image.${form.id}`,
    `${form.title} returns 400 for a file that is not JPEG, PNG, GIF, WebP or AVIF, regardless of its declared type: ${NEAR_MISSES.map(([, description]) => description).join('; ')}.`,
    async (users) =>
      expectRejected(
        users,
        form,
        NEAR_MISSES.flatMap(([, , bytes, declared]): [Buffer, string | undefined][] => [
          [bytes, declared],
          [bytes, 'application/octet-stream'],
        ]),
      ),
  ),
);
