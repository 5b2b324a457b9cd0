import { pngChunk } from '../../../support/png.js';
import {
  avif,
  blackPng,
  box,
  type CheckedResponse,
  fullBox,
  gif,
  gifExtension,
  insertBeforeEnd,
  jpeg,
  latin1,
  png,
  riff,
  SECRET,
  samples,
  segment,
  tiff,
  vp8x,
  webpChunk,
  webpImage,
} from '../../client/index.js';
import { expectEqual, expectProblemCodes, expectThat } from '../../expect.js';
import { expectStored, formRules, imagePart, type Uploader } from './forms.js';

/** A file that has only the start of a JPEG. */
const UNREADABLE = Buffer.concat([samples.jpeg.subarray(0, 3), latin1('<script>alert(1)</script>\0\r\n')]);

/** A color profile in two segments. */
const profile = Buffer.concat([segment(0xe2, 'ICC_PROFILE\0\x01\x02pro'), segment(0xe2, 'ICC_PROFILE\0\x02\x02file')]);
const exif = (data: Buffer) => segment(0xe1, Buffer.concat([latin1('Exif\0\0'), data]));

/** Returns a sample with trailing bytes, the first of which looks like padding, and the sample itself. */
const withTrailer = (sample: Buffer): [Buffer, Buffer] => [
  Buffer.concat([sample, latin1('\0<script>alert(1)</script>')]),
  sample,
];

/** The length of the last chunk of a PNG. */
const IEND_BYTES = 12;

/** A PNG of more than 128 KiB, which a service may read in several parts. */
const largePng = blackPng(1024, 1024, { level: 0 });

/** The sample JPEG with a thumbnail of one pixel in its JFIF segment. */
const jpegWithThumbnail = Buffer.concat([
  samples.jpeg.subarray(0, 4),
  latin1('\0\x13'),
  samples.jpeg.subarray(6, 18),
  latin1('\x01\x01RGB'),
  samples.jpeg.subarray(20),
]);

const [jpegComment, pngText, gifComment] = [
  segment(0xfe, SECRET),
  pngChunk('tEXt', `Author\0${SECRET}`),
  gifExtension(0xfe, SECRET),
];

const loopingGif = gif(gifExtension(0xff, 'NETSCAPE2.0', '\x01\0\0'));

/** A WebP with XMP that states its size wrongly. */
const webpOfWrongSize = riff(vp8x(0x04), webpImage, webpChunk('XMP ', SECRET));
webpOfWrongSize.writeUInt32LE(webpOfWrongSize.length - 7, 4);

/** Images with metadata that identifies people or places, each with the bytes that are served, by media type. */
const WITH_METADATA: Record<string, [uploaded: Buffer, served: Buffer][]> = {
  'image/jpeg': [
    ...[
      segment(0xe1, `http://ns.adobe.com/xap/1.0/\0${SECRET}`),
      segment(0xe1, `http://ns.adobe.com/xmp/extension/\0${SECRET}`),
      segment(0xed, `Photoshop 3.0\x008BIM${SECRET}`),
      segment(0xfe, SECRET),
      segment(0xe2, `MPF\0${SECRET}`),
      segment(0xeb, `JP\0\x01${SECRET}`),
      segment(0xec, `Ducky${SECRET}`),
    ].flatMap((metadata): [Buffer, Buffer][] => [
      [jpeg([profile, metadata]), jpeg([profile])],
      [jpeg([profile], [metadata]), jpeg([profile])],
    ]),
    [jpegWithThumbnail, samples.jpeg],
    [jpeg([segment(0xe0, `JFXX\0\x10${SECRET}`)]), samples.jpeg],
    [insertBeforeEnd(samples.jpeg, 2, segment(0xfe, SECRET)), samples.jpeg],
    withTrailer(samples.jpeg),
    // Decoders skip stray bytes, and take the end of the file for the end of the image.
    [Buffer.concat([samples.jpeg.subarray(0, 2), jpegComment, latin1('\0'), samples.jpeg.subarray(2)]), samples.jpeg],
    [jpeg([latin1('stray'), jpegComment], [latin1('stray'), exif(tiff(1))]), samples.jpeg],
    [Buffer.concat([samples.jpeg.subarray(0, -2), jpegComment]).subarray(0, -1), samples.jpeg],
  ],
  'image/png': [
    ...['tEXt', 'zTXt', 'iTXt', 'tIME'].flatMap((type): [Buffer, Buffer][] => {
      const chunk = pngChunk(type, `Author\0${SECRET}`);
      return [
        [png(chunk), samples.png],
        [insertBeforeEnd(largePng, IEND_BYTES, chunk), largePng],
      ];
    }),
    withTrailer(samples.png),
    [png(pngText).subarray(0, -IEND_BYTES), samples.png.subarray(0, -IEND_BYTES)],
  ],
  'image/gif': [
    [gif(gifExtension(0xfe, SECRET)), samples.gif],
    [gif(gifExtension(0xff, 'XMP DataXMP', SECRET)), samples.gif],
    [insertBeforeEnd(samples.gif, 1, gifExtension(0xfe, SECRET)), samples.gif],
    [insertBeforeEnd(samples.gif, 1, gifExtension(0xff, 'XMP DataXMP', SECRET)), samples.gif],
    withTrailer(samples.gif),
    [gif(latin1('stray'), gifComment), samples.gif],
    [gif(gifExtension(0xff, 'NETSCAPE2.0', SECRET, '\x01\0\0', SECRET)), loopingGif],
    [insertBeforeEnd(samples.gif, 1, Buffer.concat([latin1('stray'), gifComment])), samples.gif],
    [insertBeforeEnd(samples.gif, 1, gifComment).subarray(0, -4), samples.gif.subarray(0, -1)],
  ],
  'image/webp': [
    [riff(vp8x(0x04), webpImage, webpChunk('XMP ', SECRET)), riff(vp8x(0), webpImage)],
    withTrailer(samples.webp),
    [webpOfWrongSize, riff(vp8x(0), webpImage)],
  ],
  'image/avif': [withTrailer(samples.avif)],
};
/** Chunks of a PNG that affect how its pixels are shown. */
const DISPLAY_CHUNKS = ['sRGB', 'gAMA', 'cHRM', 'cICP', 'sBIT', 'bKGD', 'tRNS', 'pHYs'];

/** A frame of an animated WebP. */
const webpFrame = Buffer.concat([Buffer.alloc(16), webpImage]);

const PICTURE = { type: 'av01', data: 'picture' };

/** Images without identifying metadata, which are served unchanged. */
const WITHOUT_METADATA: [bytes: Buffer, type: string][] = [
  [UNREADABLE, 'image/jpeg'],
  [jpeg([profile, segment(0xee, 'Adobe\0d\0\0\0\0\x01')]), 'image/jpeg'],
  [Buffer.concat([samples.jpeg, Buffer.alloc(10)]), 'image/jpeg'],
  [png(...DISPLAY_CHUNKS.map((type) => pngChunk(type, 'data'))), 'image/png'],
  [png(pngChunk('iCCP', 'profile\0\0data')), 'image/png'],
  [riff(vp8x(0x30), webpChunk('ICCP', 'profile'), webpChunk('ALPH', 'data'), webpImage), 'image/webp'],
  [riff(vp8x(0x02), webpChunk('ANIM', 'data'), webpChunk('ANMF', webpFrame)), 'image/webp'],
  [loopingGif, 'image/gif'],
  [gif(gifExtension(0xff, 'ICCRGBG1012', 'profile')), 'image/gif'],
  [avif([PICTURE], { properties: [box('irot', '\x01'), box('imir', '\x01')] }), 'image/avif'],
];

/**
 * Images with metadata that a service may remove in several ways, so only the bytes of the `picture` are compared. Where other
 * parts of the file state offsets or lengths, it may overwrite the metadata. It may keep an orientation of 1.
 */
const WITH_INNER_METADATA: [bytes: Buffer, type: string, picture: string | Buffer][] = [
  [avif([PICTURE, { type: 'Exif', data: Buffer.concat([Buffer.alloc(4), tiff(1)]) }]), 'image/avif', PICTURE.data],
  [avif([PICTURE, { type: 'mime', data: SECRET }]), 'image/avif', PICTURE.data],
  [avif([PICTURE], { inMeta: [fullBox('xml ', 0, SECRET)] }), 'image/avif', PICTURE.data],
  [avif([PICTURE], { properties: [box('udes', SECRET)] }), 'image/avif', PICTURE.data],
  [avif([PICTURE], { top: [box('uuid', SECRET)] }), 'image/avif', PICTURE.data],
  [jpeg([exif(tiff(1))]), 'image/jpeg', samples.jpeg.subarray(-100)],
  [jpeg([], [exif(tiff(undefined))]), 'image/jpeg', samples.jpeg.subarray(-100)],
  [jpeg([exif(tiff(6)), exif(tiff(6))]), 'image/jpeg', samples.jpeg.subarray(-100)],
  [png(pngChunk('eXIf', tiff(undefined))), 'image/png', samples.png.subarray(33)],
  [riff(vp8x(0x08), webpImage, webpChunk('EXIF', tiff(1))), 'image/webp', webpImage],
  [riff(vp8x(0x02), webpChunk('ANMF', Buffer.concat([webpFrame, webpChunk('XMP ', SECRET)]))), 'image/webp', webpImage],
];

/** Files with metadata that are no images for decoders, because they are cut off or have other bytes before the image. */
const DAMAGED: [bytes: Buffer, type: string][] = [
  [jpeg([exif(tiff(6))]).subarray(0, 60), 'image/jpeg'],
  [Buffer.concat([UNREADABLE, exif(tiff(6))]), 'image/jpeg'],
  [jpeg([segment(0xfe, SECRET)]).subarray(0, 32), 'image/jpeg'],
  [png(pngChunk('tEXt', `Author\0${SECRET}`)).subarray(0, 50), 'image/png'],
  [png(latin1('stray'), pngChunk('tEXt', `Author\0${SECRET}`)), 'image/png'],
  [gif(gifExtension(0xfe, SECRET)).subarray(0, 40), 'image/gif'],
  [riff(vp8x(0x04), webpChunk('XMP ', SECRET), webpImage).subarray(0, 45), 'image/webp'],
  [avif([PICTURE], { top: [box('uuid', SECRET)] }).subarray(0, -1), 'image/avif'],
];

const ORIENTATION_TAG = 0x0112;

/** Images with Exif data: a JPEG for every orientation except 1, and a few PNG and WebP. */
const ORIENTED: [orientation: number, bytes: Buffer, type: string][] = [
  ...[2, 3, 4, 5, 6, 7, 8].map((orientation): [number, Buffer, string] => [
    orientation,
    jpeg([exif(tiff(orientation, { little: orientation % 2 === 1 }))]),
    'image/jpeg',
  ]),
  // An orientation of type BYTE, LONG or SLONG.
  [3, jpeg([exif(tiff(3, { little: true, type: 1, size: 1 }))]), 'image/jpeg'],
  [6, jpeg([exif(tiff(6, { little: true, type: 4, size: 4 }))]), 'image/jpeg'],
  [8, jpeg([latin1('stray'), exif(tiff(8, { little: true, type: 9, size: 4 }))]), 'image/jpeg'],
  // A block without a TIFF header is no Exif.
  [6, jpeg([exif(latin1('')), exif(tiff(6))]), 'image/jpeg'],
  [8, png(pngChunk('eXIf', tiff(8))), 'image/png'],
  [6, riff(vp8x(0x08), webpImage, webpChunk('EXIF', tiff(6, { little: true }))), 'image/webp'],
  // Some programs write the prefix that only JPEG requires.
  [7, png(pngChunk('eXIf', Buffer.concat([latin1('Exif\0\0'), tiff(7)]))), 'image/png'],
  [5, riff(vp8x(0x08), webpImage, webpChunk('EXIF', Buffer.concat([latin1('Exif\0\0'), tiff(5)]))), 'image/webp'],
];

/** Returns the orientation in the Exif data of an image, or undefined. */
function orientationOf(bytes: Buffer): number | undefined {
  const isLittle = bytes.includes('II*\0', 0, 'latin1');
  const start = bytes.indexOf(isLittle ? 'II*\0' : 'MM\0*', 0, 'latin1');
  if (start === -1) return undefined;
  const header = bytes.subarray(start);
  const read16 = (at: number) => (isLittle ? header.readUInt16LE(at) : header.readUInt16BE(at));
  const directory = isLittle ? header.readUInt32LE(4) : header.readUInt32BE(4);
  const entries = Array.from({ length: read16(directory) }, (_, index) => directory + 2 + 12 * index);
  const entry = entries.find((at) => read16(at) === ORIENTATION_TAG);
  return entry === undefined ? undefined : read16(entry + 8);
}

async function uploadAndDownload({ submit, user }: Uploader, bytes: Buffer, type: string): Promise<CheckedResponse> {
  const { image } = await submit(imagePart(bytes, type));
  return user.send(200, `GET ${image}`);
}

export const metadataRules = [
  ...formRules(
    'metadata.removed',
    'removes metadata that identifies people or places from JPEG, PNG, GIF and WebP (XMP, IPTC, comments, thumbnails, text and time chunks), and bytes after the end of an image of any type, also behind stray bytes that decoders skip, or if the end of the file is missing (a JPEG then gets its end marker). Everything else stays unchanged.',
    async (uploader) => {
      for (const [type, cases] of Object.entries(WITH_METADATA)) {
        const declared = [type, 'image/*', 'Application/Octet-Stream; a=b'];
        for (const [index, [uploaded, served]] of cases.entries())
          await expectStored(uploader, uploaded, declared[index % declared.length], type, served);
      }
    },
  ),

  ...formRules(
    'metadata.inner',
    'removes Exif, XMP and descriptions from AVIF, XMP from the frames of an animated WebP, a second Exif segment of a JPEG, and Exif data whose orientation is absent or 1.',
    async (uploader) => {
      for (const [bytes, type, picture] of WITH_INNER_METADATA) {
        const download = await uploadAndDownload(uploader, bytes, type);
        expectThat(!download.bytes.includes(SECRET), 'the image without its metadata', download);
        expectThat(download.bytes.includes(picture), 'the picture, as it was uploaded', download);
      }
    },
  ),

  ...formRules(
    'metadata.damaged',
    'returns 400 damaged_image for a file with metadata that is damaged so that decoders show no image, and stores nothing.',
    async ({ send, readImage }) => {
      const before = await readImage();
      for (const [bytes, type] of DAMAGED) {
        const response = await send(400, imagePart(bytes, type));
        expectProblemCodes(response, 'body.image damaged_image');
        expectEqual(response, 'the image, as before', await readImage(), before);
      }
    },
  ),

  ...formRules(
    'metadata.kept',
    'stores an image without identifying metadata byte for byte, even if it has a color profile, a resolution, a loop count or zeros at its end, or only starts like a JPEG.',
    async (uploader) => {
      for (const [bytes, type] of WITHOUT_METADATA) await expectStored(uploader, bytes, type, type);
    },
  ),

  ...formRules(
    'metadata.orientation',
    'keeps the orientation of a JPEG, PNG or WebP and removes the rest of its Exif data, in either byte order.',
    async (uploader) => {
      for (const [orientation, bytes, type] of ORIENTED) {
        const download = await uploadAndDownload(uploader, bytes, type);
        expectEqual(download, 'the orientation', orientationOf(download.bytes), orientation);
        expectThat(!download.bytes.includes(SECRET), 'the image without the name of the artist', download);
      }
    },
  ),
];
