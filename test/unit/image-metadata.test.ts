import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ImageRefusedError } from '../../handlers/policy/image-metadata/errors.js';
import { ImageFile, READ_BUFFER_BYTES } from '../../handlers/policy/image-metadata/image-file.js';
import { cleanImage } from '../../handlers/policy/image-metadata/index.js';
import { detectImageType } from '../../handlers/policy/image-types.js';
import {
  avif,
  box,
  fullBox,
  gif,
  gifExtension,
  jpeg,
  png,
  riff,
  SECRET,
  segment,
  tiff,
  u16,
  vp8x,
  webpChunk,
  webpImage,
} from '../../scripts/contract-test/image-builders.js';
import { samples } from '../../scripts/contract-test/images.js';
import { pngChunk } from '../../scripts/support/png.js';
import { createRandom, type Random } from '../support/random.js';
import { temporaryDirectory } from '../support/stores.js';

/* Covers what the contract rules `uploads.metadata` and `uploads.dimensions` do not: rare places and structures. */

const path = join(await temporaryDirectory(t), 'image');

/** Returns the cleaned bytes of an image, or the code of the problem if the image is rejected. */
async function clean(bytes: Buffer, stripMetadata = true): Promise<Buffer | string> {
  await writeFile(path, bytes);
  const mediaType = String(detectImageType(bytes)?.mediaType);
  try {
    const size = await cleanImage({ path, size: bytes.length, mediaType }, { stripMetadata });
    const stored = await readFile(path);
    if (stored.length !== size) throw new Error(`The size is ${stored.length}, not ${size}.`);
    return stored;
  } catch (error) {
    if (error instanceof ImageRefusedError) return error.fieldCode;
    throw error;
  }
}

async function expectCleaned(t: Test, what: string, before: Buffer, after: Buffer) {
  t.strictSame(await clean(before), after, what);
  t.strictSame(await clean(after), after, `${what}: nothing is left to remove`);
}

const expectUnchanged = async (t: Test, what: string, bytes: Buffer) => t.strictSame(await clean(bytes), bytes, what);
const expectRefused = async (t: Test, what: string, bytes: Buffer) =>
  t.equal(await clean(bytes), 'damaged_image', what);

const video = Buffer.from(`\0\0\0\x18ftypmp42\0\0\0\0mp42isom${SECRET}`, 'latin1');
const app1 = (data: Buffer) => segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), data]));

t.test('reads a file in large pieces, even if its elements are tiny', async (t) => {
  const path = join(t.testdir({ file: 'x'.repeat(200_000) }), 'file');
  const handle = await open(path);
  t.teardown(() => handle.close());
  let reads = 0;
  const counting = {
    read(...args: Parameters<FileHandle['read']>) {
      reads += 1;
      return handle.read(...args);
    },
  };
  const file = new ImageFile(counting as FileHandle, 200_000);
  for (let at = 0; at < 200_000; at += 8) await file.read(at, 8);
  t.ok(reads <= 2 * Math.ceil(200_000 / READ_BUFFER_BYTES), `${reads} reads`);
});

t.test('removes what follows the end of an image, except zeros', async (t) => {
  for (const [kind, bytes] of Object.entries(samples)) {
    await expectUnchanged(t, `${kind} before zeros`, Buffer.concat([bytes, Buffer.alloc(70_000)]));
    await expectCleaned(t, `${kind} before a video`, Buffer.concat([bytes, video, Buffer.alloc(70_000)]), bytes);
    const followed = Buffer.concat([bytes, Buffer.alloc(9), samples.jpeg]);
    await expectCleaned(t, `${kind} before another image`, followed, bytes);
  }
});

t.test('removes metadata from a JPEG', async (t) => {
  const adobe = segment(0xee, 'Adobe\0\x64\0\0\0\0\x01');
  const kept = jpeg([adobe]);
  await expectUnchanged(t, 'colors', kept);
  for (const [what, marker, data] of [
    ['a maker’s data', 0xe5, SECRET],
    ['a reserved segment', 0xf8, SECRET],
  ] as const) {
    await expectCleaned(t, what, jpeg([segment(marker, data), adobe]), kept);
    await expectCleaned(t, `${what} before the scan`, jpeg([adobe], [segment(marker, data)]), kept);
  }
  const longAdobe = segment(0xee, `${adobe.toString('latin1', 4)}${SECRET}`);
  await expectCleaned(t, 'bytes after the Adobe flags', jpeg([longAdobe]), kept);
});

t.test('finds the end of a JPEG by its scans', async (t) => {
  const end = samples.jpeg.length - 2;
  const withScan = (...bytes: number[]) =>
    Buffer.concat([samples.jpeg.subarray(0, end), Buffer.from(bytes), samples.jpeg.subarray(end)]);
  await expectCleaned(t, 'an end marker in a comment', jpeg([segment(0xfe, '\xff\xd9')]), samples.jpeg);
  for (const bytes of [
    [0xff, 0x00, 0xd9],
    [0xff, 0xd0, 1, 0xff, 0xd7, 2],
    [0xff, 0xff, 0x00],
    [...segment(0xc4, 'a table'), ...segment(0xda, 'another scan'), 0xff, 0x00, 9],
  ]) {
    const image = withScan(...bytes);
    await expectCleaned(t, Buffer.from(bytes).toString('hex'), Buffer.concat([image, video]), image);
  }
  // Scans that end near the end of a read, or take several reads.
  const lengths = [65_533, 65_534, 65_535, 65_536, 65_537, 65_538].map((place) => place - end);
  for (const length of [...lengths, 200_000, 200_001]) {
    const data = Buffer.alloc(length, '\xff\0', 'latin1').fill(0, length - 1);
    const long = Buffer.concat([samples.jpeg.subarray(0, end), data, samples.jpeg.subarray(end)]);
    await expectCleaned(t, `a scan of ${length}`, Buffer.concat([long, video]), long);
  }
  await expectUnchanged(t, 'a scan that is cut short', samples.jpeg.subarray(0, end - 1));
});

t.test('keeps only the orientation of Exif', async (t) => {
  const builders: Record<string, (...exif: Buffer[]) => Buffer> = {
    jpeg: (...exif) => jpeg(exif.map(app1)),
    png: (...exif) => png(...exif.map((data) => pngChunk('eXIf', data))),
    webp: (...exif) =>
      riff(vp8x(exif.length > 0 ? 0x08 : 0), webpImage, ...exif.map((data) => webpChunk('EXIF', data))),
    avif: (exif = Buffer.alloc(0)) =>
      avif([
        { type: 'av01', data: 'pixels' },
        ...(exif.length > 0 ? [{ type: 'Exif', data: Buffer.concat([Buffer.alloc(4), exif]) }] : []),
      ]),
  };
  const empty = Buffer.from('MM\0*\0\0\0\x08\0\0\0\0\0\0', 'latin1');
  for (const [kind, build] of Object.entries(builders)) {
    // AVIF metadata is overwritten in place.
    const rest = kind === 'avif' ? Buffer.alloc(24) : Buffer.alloc(0);
    const nothing = kind === 'avif' ? [Buffer.concat([empty, Buffer.alloc(36)])] : [];
    for (const little of [false, true]) {
      const minimal = tiff(6, { little, minimal: true });
      await expectCleaned(t, `${kind}, turned`, build(tiff(6, { little })), build(Buffer.concat([minimal, rest])));
      await expectUnchanged(t, `${kind}, orientation alone`, build(minimal));
      for (const orientation of [0, 1, 9])
        await expectCleaned(t, `${kind}, ${orientation}`, build(tiff(orientation, { little })), build(...nothing));
    }
    const broken = tiff(6).fill(0xff, 8, 10);
    await expectCleaned(t, `${kind}, a broken directory`, build(broken), build(...nothing));
  }
  const turned = app1(tiff(6, { minimal: true }));
  await expectCleaned(t, 'a second segment', jpeg([app1(tiff(6)), app1(tiff(3))]), jpeg([turned]));
});

t.test('removes metadata from a PNG', async (t) => {
  const colors = pngChunk('cICP', '\x01\x0d\0\x01');
  for (const type of ['dSIG', 'caBX', 'prVt']) {
    const chunk = pngChunk(type, `Author\0${SECRET}`);
    await expectCleaned(t, type, png(chunk, colors), png(colors));
  }
  const end = samples.apng.length - 12;
  const late = Buffer.concat([samples.apng.subarray(0, end), pngChunk('tEXt', SECRET), samples.apng.subarray(end)]);
  await expectCleaned(t, 'after the frames of an APNG', late, samples.apng);
});

t.test('removes metadata from a GIF', async (t) => {
  const shown = [gifExtension(0xff, 'ANIMEXTS1.0', '\x01\0\0'), gifExtension(0xf9, '\0\x0a\0\0')];
  for (const [what, extension] of Object.entries({
    'a long comment': gifExtension(0xfe, SECRET, 'x'.repeat(255)),
    'an unknown application extension': gifExtension(0xff, 'MAKERMKR1.0', SECRET),
    'plain text': gifExtension(0x01, 'x'.repeat(12), SECRET),
    'an unknown extension': gifExtension(0x77, SECRET),
  })) {
    await expectCleaned(t, what, gif(...shown.flatMap((one) => [extension, one])), gif(...shown));
  }
  await expectUnchanged(t, 'without an end', samples.gif.subarray(0, -1));
  await expectUnchanged(t, 'cut short within a frame', samples.gif.subarray(0, -3));
});

t.test('removes metadata from a WebP', async (t) => {
  const frame = (...chunks: Buffer[]) => webpChunk('ANMF', Buffer.concat([Buffer.alloc(16), webpImage, ...chunks]));
  await expectCleaned(t, 'unknown', riff(vp8x(0), webpChunk('MAKR', SECRET), webpImage), riff(vp8x(0), webpImage));
  await expectCleaned(t, 'without VP8X', riff(webpImage, webpChunk('EXIF', tiff(6))), riff(webpImage));
  const blank = webpChunk('MAKR', Buffer.alloc(SECRET.length + 1));
  blank.writeUInt32LE(SECRET.length, 4);
  await expectCleaned(t, 'in a frame', riff(vp8x(2), frame(webpChunk('MAKR', SECRET))), riff(vp8x(2), frame(blank)));
});

t.test('removes metadata from an AVIF without moving other bytes', async (t) => {
  const picture = { type: 'av01', data: 'pixels' };
  const blank = Buffer.alloc(SECRET.length);
  const xmp = (data: string | Buffer) => avif([picture, { type: 'mime', data }, { type: 'av01', data: 'more pixels' }]);
  await expectCleaned(t, 'XMP', xmp(SECRET), xmp(blank));
  for (const [place, types] of Object.entries({
    properties: ['udes', 'uuid', 'udta', 'free'],
    inMeta: ['uuid', 'udta', 'free'],
    top: ['udes', 'uuid', 'udta', 'free', 'mpvd'],
  })) {
    for (const type of types) {
      const withBox = (inserted: Buffer) => avif([picture], { [place]: [inserted] });
      await expectCleaned(t, `${type}, ${place}`, withBox(box(type, SECRET)), withBox(box('free', blank)));
    }
  }
  const withReference = (type: string, reference: string, data: string | Buffer) =>
    avif([picture, { type, data }], { inMeta: [fullBox('iref', 0, box(reference, u16(2), u16(1), u16(1)))] });
  await expectCleaned(t, 'a thumbnail', withReference('av01', 'thmb', SECRET), withReference('free', 'free', blank));
  await expectUnchanged(t, 'another reference', withReference('av01', 'auxl', 'alpha'));
  const movie = (...boxes: Buffer[]) => avif([picture], { moov: [box('moov', ...boxes)] });
  const track = (times: string, inside: Buffer) => {
    const media = box('mdia', fullBox('mdhd', 1, times, times, 'rest'));
    return movie(fullBox('mvhd', 0, times, 'rest'), box('trak', media, inside));
  };
  const noTimes = '\0'.repeat(8);
  const [tags, noTags] = [box('udta', SECRET), box('free', blank)];
  await expectCleaned(t, 'a sequence', track('sometime', tags), track(noTimes, noTags));
  const texts = fullBox('meta', 0, fullBox('hdlr', 0, '\0\0\0\0mdta'), SECRET);
  const noTexts = box('free', Buffer.alloc(texts.length - 8));
  await expectCleaned(t, 'a track’s texts', track('sometime', texts), track(noTimes, noTexts));

  const locationTrack = box('trak', box('mdia', fullBox('hdlr', 0, '\0\0\0\0meta')));
  await expectRefused(t, 'a location track', movie(locationTrack));
  await expectRefused(t, 'outside of the media data', avif([picture, { type: 'mime', data: SECRET, at: 40 }]));
  const within = (at: number) => avif([picture, { type: 'mime', data: 'pix', at }]);
  await expectRefused(t, 'in the picture', within(within(0).indexOf('pixels')));
});

t.test('keeps a file with an unknown structure, unless it has signs of metadata', async (t) => {
  const heads = {
    jpeg: '\xff\xd8\xff',
    png: '\x89PNG\r\n\x1a\n',
    gif: 'GIF89a',
    webp: 'RIFF\0\0\0\0WEBP',
    avif: '\0\0\0\x10ftypavif\0\0\0\0',
  };
  for (const [kind, head] of Object.entries(heads)) {
    const fake = (content: string) => Buffer.from(`${head}${content}`, 'latin1');
    for (const content of ['', '\0', ' of a kind', 'x'.repeat(70_000), '\xff'.repeat(70_000)]) {
      await expectUnchanged(t, `${kind} of ${content.length}`, fake(content));
    }
    for (const sign of ['Exif\0', 'http://ns.adobe.com/', '<x:xmpmeta', 'Photoshop 3.0', 'II*\0\x08\0\0\0']) {
      await expectRefused(t, `${kind} with ${sign}`, fake(`x${sign}`));
      // At distance 1, the sign continues in the next read. At distance 40, it ends within the first read.
      for (const distance of [1, 40]) {
        const distant = fake('x'.repeat(65_536 - head.length - distance) + sign);
        await expectRefused(t, `${kind} with ${sign} ${distance} bytes before the end of a read`, distant);
      }
    }
  }
  const jpegLs = [segment(0xf7, '\x08\0\x01\0\x01\x01\x01\x11\0'), segment(0xda, '\x01\x01\0\0\0\0'), Buffer.alloc(9)];
  await expectUnchanged(t, 'a JPEG-LS', Buffer.concat([samples.jpeg.subarray(0, 20), ...jpegLs]));
  const prvt = png(pngChunk('prVt', SECRET));
  const jfifWithThumbnail = segment(0xe0, `JFIF\0\x01\x01\0\0\x01\0\x01\x01\x01${SECRET}`);
  const frame = Buffer.concat([Buffer.alloc(16), webpChunk('MAKR', SECRET), webpImage, Buffer.from('ALPH')]);
  const track = box('moov', fullBox('mvhd', 0, 'sometime', 'rest'), box('trak', fullBox('tkhd', 0)));
  for (const [what, bytes] of Object.entries({
    'a PNG with a text chunk after other bytes': Buffer.concat([samples.png.subarray(0, 40), pngChunk('tEXt', SECRET)]),
    'a PNG with a private chunk, cut short': prvt.subarray(0, -10),
    'a JPEG with a comment': Buffer.concat([jpeg([segment(0xfe, SECRET)]).subarray(0, 60), Buffer.alloc(9)]),
    'a thumbnail before a second start marker': jpeg([segment(0xe0, `JFXX\0\x10${SECRET}`), samples.jpeg]),
    'a JFIF thumbnail before a second start marker': jpeg([jfifWithThumbnail, samples.jpeg]),
    'a WebP frame with an incomplete chunk': riff(vp8x(2), webpChunk('ANMF', frame)),
    'a WebP that is cut short': riff(vp8x(0), webpImage, webpChunk('XMP ', SECRET)).subarray(0, -1),
    'an AVIF with an incomplete track header': avif([{ type: 'av01', data: 'x' }], { moov: [track] }),
  })) {
    await expectRefused(t, what, bytes);
  }
});

t.test('removes nothing if stripping is disabled, and still rejects too many pixels', async (t) => {
  for (const bytes of [jpeg([app1(tiff(6))]), Buffer.concat([samples.gif, video]), Buffer.from('GIF89aExif\0')]) {
    t.strictSame(await clean(bytes, false), bytes);
  }
  t.equal(await clean(Buffer.from(samples.gif).fill(0xff, 6, 10), false), 'too_many_pixels');
});

t.test('rejects metadata in more than 4096 pieces, or in a file of more than 50,000 elements', async (t) => {
  const pieces = (count: number) =>
    gif(...Array.from({ length: count }, () => [gifExtension(0xfe, 'x'), gifExtension(0xf9, '\0\0\0\0')]).flat());
  t.type(await clean(pieces(4096)), Buffer);
  await expectRefused(t, 'one piece more', pieces(4097));
  const empty = pngChunk('tEXt', '');
  // Adjacent pieces count as one, so only the number of elements exceeds its limit.
  await expectRefused(t, 'too many elements', png(Buffer.alloc(50_000 * empty.length, empty)));
});

// SEED repeats a run, RUNS sets the number of corrupted files of each format.
const seed = process.env.SEED ?? String(Date.now());
const runs = Number(process.env.RUNS ?? 150);

/** Valid images, most of them with a lot of metadata. */
const originals: Record<string, Buffer> = {
  jpeg: Buffer.concat([
    jpeg(
      [segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(6)])), segment(0xe2, 'ICC_PROFILE\0\x01\x01profile')],
      [segment(0xfe, SECRET), segment(0xed, `Photoshop 3.0\0${SECRET}`), segment(0xee, 'Adobe\0\x64\0\0\0\0\x01')],
    ),
    samples.jpeg,
  ]),
  png: Buffer.concat([
    png(pngChunk('eXIf', tiff(8)), pngChunk('tEXt', SECRET), pngChunk('pHYs', '012345678')),
    samples.gif,
  ]),
  apng: samples.apng,
  gif: gif(
    gifExtension(0xff, 'NETSCAPE2.0', '\x01\0\0'),
    gifExtension(0xfe, SECRET, SECRET),
    gifExtension(0xf9, '\0\0\0\0'),
    gifExtension(0xff, 'XMP DataXMP', SECRET),
  ),
  webp: riff(
    vp8x(0x2e),
    webpChunk('ICCP', 'profile'),
    webpImage,
    webpChunk('ANMF', Buffer.concat([Buffer.alloc(16), webpImage, webpChunk('MAKR', SECRET)])),
    webpChunk('EXIF', tiff(3)),
    webpChunk('XMP ', SECRET),
  ),
  avif: avif(
    [
      { type: 'av01', data: 'pixels' },
      { type: 'Exif', data: Buffer.concat([Buffer.alloc(4), tiff(6)]) },
      { type: 'mime', data: SECRET },
    ],
    {
      properties: [box('udes', SECRET)],
      top: [box('uuid', SECRET)],
      moov: [
        box('moov', fullBox('mvhd', 0, 'sometime', 'rest'), box('trak', box('mdia', fullBox('mdhd', 0, 'sometime')))),
      ],
    },
  ),
  'real avif': samples.avif,
};

/** Bytes that have a meaning in one of the formats. */
const MEANINGFUL_BYTES = [0, 1, 2, 8, 0x21, 0x2c, 0x3b, 0x7f, 0x80, 0xd9, 0xda, 0xe1, 0xfe, 0xff];

/** Corrupts a file in one to four places, with values that parsers are likely to mishandle. */
function corrupt(original: Buffer, { below, pick }: Random): Buffer {
  let bytes = original;
  for (let count = 1 + below(4); count > 0 && bytes.length > 12; count--) {
    // The signature stays, otherwise the file is not parsed.
    const at = 12 + below(bytes.length - 12);
    const end = at + 1 + below(pick([4, 64]));
    const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    bytes = Buffer.concat(
      pick([
        [before, Buffer.alloc(piece.length, pick(MEANINGFUL_BYTES)), after],
        [before, Buffer.from([below(256)]), piece.subarray(1), after],
        [before],
        [before, after],
        [before, piece, piece, after],
        [before, original.subarray(below(original.length)), piece, after],
        [before, Buffer.alloc(below(70_000), piece), piece, after],
      ]),
    );
  }
  return bytes;
}

for (const [kind, original] of Object.entries(originals)) {
  t.test(`cleans or rejects every corrupted ${kind}, and cleaning is idempotent`, async (t) => {
    t.comment(`SEED=${seed}`);
    let cleaned = 0;
    for (let run = 0; run < runs; run++) {
      const bytes = corrupt(original, createRandom(seed, run));
      const once = await clean(bytes);
      if (typeof once === 'string') continue;
      cleaned++;
      const twice = await clean(once);
      if (once.length > bytes.length || typeof twice === 'string' || !twice.equals(once)) {
        t.fail(`run ${run}: larger, or changed when cleaned again`, { image: bytes.toString('base64') });
      }
    }
    t.ok(cleaned > 0, `${cleaned} of ${runs} cleaned`);
  });
}
