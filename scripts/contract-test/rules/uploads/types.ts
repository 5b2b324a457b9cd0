import { latin1, samples } from '../../client/index.js';
import { expectProblemCodes, expectThat } from '../../expect.js';
import { expectRejected, expectStored, formRules, imagePart, type UploadedFile } from './forms.js';

/** The accepted image types: sample bytes, the media types they may be declared as, and the type they are served as. */
const IMAGE_TYPES = [
  { id: 'png', bytes: samples.png, served: 'image/png', declared: ['image/png', 'IMAGE/PNG; q=1'] },
  {
    id: 'apng',
    bytes: samples.apng,
    served: 'image/png',
    declared: ['image/png', 'image/apng', 'image/vnd.mozilla.apng'],
  },
  { id: 'jpeg', bytes: samples.jpeg, served: 'image/jpeg', declared: ['image/jpeg', 'image/jpg'] },
  { id: 'gif', bytes: samples.gif, served: 'image/gif', declared: ['image/gif'] },
  { id: 'webp', bytes: samples.webp, served: 'image/webp', declared: ['image/webp'] },
  { id: 'avif', bytes: samples.avif, served: 'image/avif', declared: ['image/avif'] },
];
/** Types with which a part declares no image type, and a list of types, which some clients send literally. */
const OPEN_TYPES = ['application/octet-stream', 'image/*'];
const listWith = (type: string) => `image/x-none, ${type},image/x-other`;
const DECLARED_TYPES = [
  ...new Set(IMAGE_TYPES.map(({ served }) => served)),
  ...['text/plain', 'application/pdf', 'video/mp4', 'image/x-none, image/x-other'],
];

/** Returns a file with an `ftyp` box: its brands, the first of which is the major one, and its minor version. */
const ftyp = ([major, ...compatible]: string[], minorVersion = '\0\0\0\0', rest = '\0'.repeat(64)) => {
  const box = Buffer.concat([Buffer.alloc(4), latin1(`ftyp${major}${minorVersion}${compatible.join('')}`)]);
  box.writeUInt32BE(box.length);
  return Buffer.concat([box, latin1(rest)]);
};

/** Files that only start like an image, by the type that their signature determines. They need not be decodable. */
const SIGNATURES: [type: string, ...files: Buffer[]][] = [
  ['image/png', latin1('\x89PNG\r\n\x1a\nno chunk')],
  ['image/jpeg', ...Array.from('\xdb\xe1\xee\xff', (marker) => latin1(`\xff\xd8\xff${marker}no segment`))],
  ['image/gif', latin1('GIF87ano screen'), latin1('GIF89ano screen')],
  ['image/webp', ...['VP8 ', 'VP8L', 'VP8X', 'none'].map((chunk) => latin1(`RIFF\xff\xff\0\0WEBP${chunk}`))],
  [
    'image/avif',
    ftyp(['avif']),
    ftyp(['avis', 'msf1']),
    ftyp(['mif1', ...Array(100).fill('miaf'), 'avif']),
    ftyp(['msf1', 'avis']),
  ],
];

/** Files that are not accepted images, and the type that they are declared as. */
const NOT_IMAGES: [description: string, bytes: Buffer, declared: string][] = [
  ['WAV (RIFF, like WebP)', latin1('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'), 'image/webp'],
  ['AVI (RIFF, like WebP)', latin1('RIFF\x24\0\0\0AVI LIST\x10\0\0\0'), 'image/webp'],
  ['RIFF without a form type', latin1('RIFF\x24\0\0\0'), 'image/webp'],
  ['MP4 (with an ftyp box, like AVIF)', ftyp(['isom', 'isom', 'mp42']), 'image/avif'],
  ['HEIC (with an ftyp box, like AVIF)', ftyp(['heic', 'mif1', 'heic']), 'image/avif'],
  ['QuickTime (with an ftyp box, like AVIF)', ftyp(['qt  ', 'qt  ']), 'image/avif'],
  ['HEIC with avif as minor version', ftyp(['heic', 'mif1'], 'avif'), 'image/avif'],
  ['HEIC with avif after its brands', ftyp(['heic', 'mif1'], undefined, '\0\0\0\x08avif'), 'image/avif'],
  ['TIFF', latin1('II*\0\x08\0\0\0\0\0'), 'image/jpeg'],
  ['big-endian TIFF', latin1('MM\0*\0\0\0\x08\0\0'), 'image/png'],
  ['SVG', latin1('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
  ['SVG declared as SVG', latin1('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['PDF', latin1('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'), 'image/jpeg'],
  ['BMP', latin1('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0'), 'image/gif'],
  ['ICO', latin1('\0\0\x01\0\x01\0\x10\x10'), 'image/png'],
  ['JPEG XL', latin1('\xff\x0a\xfa\x1f\x01\x90'), 'image/jpeg'],
  ['JPEG 2000', latin1('\0\0\0\x0cjP  \r\n\x87\n'), 'image/jpeg'],
  ['a GIF of an unknown version', Buffer.concat([latin1('GIF88a'), samples.gif.subarray(6)]), 'image/gif'],
  ['the first seven bytes of a PNG', samples.png.subarray(0, 7), 'image/png'],
  ['a PNG with converted line breaks', latin1('\x89PNG\n\x1a\n\0\0\0\rIHDR'), 'image/png'],
  ['the first two bytes of a JPEG', samples.jpeg.subarray(0, 2), 'image/jpeg'],
  ['a PNG after one other byte', Buffer.concat([latin1(' '), samples.png]), 'image/png'],
  ['HTML', latin1('<!doctype html><script>alert(1)</script>'), 'image/gif'],
  ['an empty file with a name', Buffer.alloc(0), 'image/png'],
];

export const typeRules = [
  ...formRules(
    'type.none',
    'returns 400 image_type_mismatch for an image declared as text/plain, with a message that says how to declare it, and 400 unsupported_image for a file without a type that is no image.',
    async ({ send }) => {
      const declared = await send(400, imagePart(samples.png, 'text/plain'));
      const { message } = expectProblemCodes(declared, 'body.image image_type_mismatch').body.errors[0];
      expectThat(message.includes('Content-Type: image/png'), 'the header to send in the message', declared);
      expectProblemCodes(await send(400, imagePart(latin1('%PDF-1.7'))), 'body.image unsupported_image');
    },
  ),

  ...IMAGE_TYPES.flatMap(({ id, bytes, served, declared }) =>
    formRules(
      `type.${id}`,
      `accepts ${id.toUpperCase()} declared as ${[...declared, ...OPEN_TYPES].join(', ')} or as a list with its type, or without a type, and serves it unchanged as ${served}. Any other declared type returns 400.`,
      async (uploader) => {
        for (const type of [...declared, ...OPEN_TYPES, listWith(served), undefined])
          await expectStored(uploader, bytes, type, served);
        const wrongTypes = DECLARED_TYPES.filter((type) => type !== served);
        await expectRejected(
          uploader,
          wrongTypes.map((type): UploadedFile => [bytes, type]),
        );
      },
    ),
  ),

  ...formRules(
    'signatures',
    'accepts a file with the signature of an image, even if it cannot be decoded, and serves it unchanged: PNG, JPEG, GIF87a and GIF89a, WebP, and AVIF with avif or avis as major or compatible brand.',
    async (uploader) => {
      for (const [type, ...files] of SIGNATURES) {
        for (const file of files) await expectStored(uploader, file, type, type);
      }
    },
  ),

  ...formRules(
    'no-image',
    `returns 400 for a file that is not JPEG, PNG, GIF, WebP or AVIF, regardless of its declared type: ${NOT_IMAGES.map(([description]) => description).join('; ')}.`,
    async (uploader) => {
      const files = NOT_IMAGES.flatMap(([, bytes, declared]): UploadedFile[] => [
        [bytes, declared],
        [bytes, 'application/octet-stream'],
      ]);
      await expectRejected(uploader, files);
    },
  ),
];
