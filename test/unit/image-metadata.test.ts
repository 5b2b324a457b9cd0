import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ImageRefusedError } from '../../handlers/policy/image-metadata/errors.js';
import { cleanImage } from '../../handlers/policy/image-metadata/index.js';
import { detectImageType } from '../../handlers/policy/image-types.js';
import {
  avif,
  box,
  fullBox,
  gif,
  gifExtension,
  insertBeforeEnd,
  jpeg,
  png,
  riff,
  SECRET,
  samples,
  segment,
  tiff,
  u16,
  vp8x,
  webpChunk,
  webpImage,
} from '../../scripts/contract-test/client/index.js';
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

/** The integer types of TIFF, and their sizes in bytes: BYTE, SHORT, LONG, SBYTE, SSHORT and SLONG. */
const INTEGER_TYPES = [
  [1, 1],
  [3, 2],
  [4, 4],
  [6, 1],
  [8, 2],
  [9, 4],
] as const;

t.test('keeps only the orientation of Exif, whatever integer type it has', async (t) => {
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
      for (const [type, size] of INTEGER_TYPES) {
        const [full, alone] = [tiff(6, { little, type, size }), tiff(6, { little, type, size, minimal: true })];
        await expectCleaned(t, `${kind}, turned, type ${type}`, build(full), build(Buffer.concat([alone, rest])));
        await expectUnchanged(t, `${kind}, orientation alone, type ${type}`, build(alone));
      }
      for (const orientation of [0, 1, 9])
        await expectCleaned(t, `${kind}, ${orientation}`, build(tiff(orientation, { little })), build(...nothing));
    }
    const broken = tiff(6).fill(0, 4, 8);
    await expectCleaned(t, `${kind}, a broken directory`, build(broken), build(...nothing));
  }
  const turned = tiff(6, { minimal: true });
  for (const [kind, build] of Object.entries(builders).filter(([kind]) => kind !== 'avif')) {
    await expectCleaned(t, `${kind}, a second block`, build(tiff(6), tiff(3, { minimal: true })), build(turned));
    for (const upright of [tiff(1), tiff(undefined), tiff(1).subarray(0, 8)])
      await expectCleaned(t, `${kind}, an upright block first`, build(upright, tiff(6)), build());
    for (const headless of ['', SECRET, 'II*', 'Exif\0\0'])
      await expectCleaned(t, `${kind}, ${headless} first`, build(Buffer.from(headless), tiff(6)), build(turned));
  }
});

t.test('keeps the prefix of Exif, because it decides which programs use the orientation', async (t) => {
  const prefixed = (data: Buffer, prefix = 'Exif\0\0') => Buffer.concat([Buffer.from(prefix), data]);
  const [full, upright, turned] = [tiff(6), tiff(1), tiff(6, { minimal: true })];
  const anyFill = (data: Buffer) => jpeg([segment(0xe1, prefixed(data, 'Exif\0x'))]);
  await expectCleaned(t, 'jpeg, another fill byte', anyFill(full), anyFill(turned));
  await expectCleaned(t, 'jpeg, no prefix', jpeg([segment(0xe1, turned), app1(turned)]), jpeg([app1(turned)]));
  const pngOf = (...exif: Buffer[]) => png(...exif.map((data) => pngChunk('eXIf', data)));
  await expectCleaned(t, 'png', pngOf(prefixed(full)), pngOf(prefixed(turned)));
  await expectCleaned(t, 'png, upright', pngOf(prefixed(upright), turned), samples.png);
  const webpOf = (exif: Buffer) => riff(vp8x(8), webpImage, webpChunk('EXIF', exif));
  await expectCleaned(t, 'webp', webpOf(prefixed(full)), webpOf(prefixed(turned)));
  // An AVIF states the position of the TIFF header.
  const avifOf = (...exif: Buffer[]) =>
    avif([
      { type: 'av01', data: 'x' },
      { type: 'Exif', data: Buffer.concat(exif) },
    ]);
  const left = avifOf(Buffer.alloc(4), turned, Buffer.alloc(prefixed(full).length - turned.length));
  for (const offset of [0, 6])
    await expectCleaned(t, `avif, offset ${offset}`, avifOf(Buffer.from([0, 0, 0, offset]), prefixed(full)), left);
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
  const loops = (...blocks: string[]) =>
    ['NETSCAPE2.0', 'ANIMEXTS1.0'].map((name) => gifExtension(0xff, name, ...blocks));
  const [count, buffer, control] = ['\x01\0\0', '\x02\0\0\0\x01', '\x01\x0a\0\0'];
  await expectUnchanged(t, 'a repeat count and a buffer', gif(...loops(count, buffer)));
  for (const block of [SECRET, `\x03${SECRET}`, `${count}${SECRET}`, `${buffer}${SECRET}`, '\0', 'x'.repeat(255)]) {
    await expectCleaned(t, 'in a repeat count', gif(...loops(block, count, block, block)), gif(...loops(count)));
    const controls = [gifExtension(0xf9, control, block), gifExtension(0xf9, control)] as const;
    await expectCleaned(t, 'after the delay of a frame', gif(controls[0]), gif(controls[1]));
  }
  const end = insertBeforeEnd(samples.gif, 1, gifExtension(0xff, 'NETSCAPE2.0', count, SECRET));
  await expectCleaned(t, 'in a repeat count that is cut short', end.subarray(0, -4), end.subarray(0, -14));
  await expectUnchanged(t, 'without an end', samples.gif.subarray(0, -1));
  await expectUnchanged(t, 'cut short within a frame', samples.gif.subarray(0, -3));
});

t.test('removes metadata from a WebP', async (t) => {
  const frame = (...chunks: Buffer[]) => webpChunk('ANMF', Buffer.concat([Buffer.alloc(16), webpImage, ...chunks]));
  await expectCleaned(t, 'unknown', riff(vp8x(0), webpChunk('MAKR', SECRET), webpImage), riff(vp8x(0), webpImage));
  await expectCleaned(t, 'without VP8X', riff(webpImage, webpChunk('EXIF', tiff(6))), riff(webpImage));
  const [exif, turned] = [tiff(6), tiff(6, { minimal: true })].map((data) => webpChunk('EXIF', data)) as [
    Buffer,
    Buffer,
  ];
  const withoutFlag = riff(vp8x(0x04), webpImage, exif, webpChunk('XMP ', SECRET));
  await expectCleaned(t, 'Exif that the flags do not declare', withoutFlag, riff(vp8x(0), webpImage, turned));
  const maker = webpChunk('MAKR', SECRET);
  await expectCleaned(t, 'in a frame', riff(vp8x(2), frame(maker), frame(maker)), riff(vp8x(2), frame(), frame()));
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
  await expectCleaned(t, 'a thumbnail', withReference('av01', 'thmb', SECRET), withReference('av01', 'free', blank));
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
  const items = Array.from({ length: 65 }, () => ({ type: 'mime', data: SECRET }));
  await expectRefused(t, 'many items', avif([picture, ...items]));
  await expectRefused(t, 'outside of the media data', avif([picture, { type: 'mime', data: SECRET, at: 40 }]));
  const within = (at: number) => avif([picture, { type: 'mime', data: 'pix', at }]);
  await expectRefused(t, 'in the picture', within(within(0).indexOf('pixels')));
});

/** Bytes that belong to no element of an image, and whether they are kept as padding if they do not follow metadata. */
const STRAY_BYTES: [what: string, bytes: Buffer, isKept: boolean][] = [
  ['a zero', Buffer.from([0]), true],
  ['five zeros', Buffer.alloc(5), true],
  ['fill bytes', Buffer.alloc(3, 0xff), true],
  ['one byte', Buffer.from('x'), false],
  ['five bytes', Buffer.from('stray'), false],
  ['the rest of a text', Buffer.from(SECRET), false],
];

/** Calls `check` for each place of stray bytes next to one or two pieces of metadata, with the stray bytes that remain. */
async function forEachStray(metadata: Buffer, check: (what: string, pieces: Buffer[], left: Buffer) => Promise<void>) {
  for (const [what, stray, isKept] of STRAY_BYTES) {
    const nothing = Buffer.alloc(0);
    await check(`before ${what}`, [metadata, stray], nothing);
    await check(`after ${what}`, [stray, metadata], isKept ? stray : nothing);
    await check(`on both sides of ${what}`, [metadata, stray, metadata], nothing);
  }
}

/** Returns a copy of an element whose 16-bit length is changed by a number of bytes. */
function withLength(element: Buffer, change: number): Buffer {
  const copy = Buffer.from(element);
  copy.writeUInt16BE(copy.readUInt16BE(2) + change, 2);
  return copy;
}

t.test('removes metadata next to stray bytes in a JPEG', async (t) => {
  const maker = segment(0xec, `Ducky${SECRET}`);
  for (const [kind, metadata] of Object.entries({
    comment: segment(0xfe, SECRET),
    exif: app1(tiff(1)),
    xmp: segment(0xe1, `http://ns.adobe.com/xap/1.0/\0${SECRET}`),
    'unknown APP1': segment(0xe1, SECRET),
    mpf: segment(0xe2, `MPF\0${SECRET}`),
    'unknown APP4': segment(0xe4, SECRET),
    c2pa: segment(0xeb, `JP\0\x01${SECRET}`),
    maker,
    iptc: segment(0xed, `Photoshop 3.0\x008BIM${SECRET}`),
    thumbnail: segment(0xe0, `JFXX\0\x10${SECRET}`),
  })) {
    const start = Buffer.from([0xff, 0xd8]);
    await forEachStray(metadata, async (what, pieces, left) => {
      const first = (...inserted: Buffer[]) => Buffer.concat([start, ...inserted, samples.jpeg.subarray(2)]);
      await expectCleaned(t, `${kind} ${what}, first`, first(metadata, ...pieces), samples.jpeg);
      await expectCleaned(t, `${kind} ${what}`, jpeg(pieces), jpeg([left]));
      await expectCleaned(t, `${kind} ${what}, before the scan`, jpeg([], pieces), jpeg([], [left]));
      const last = (...inserted: Buffer[]) => insertBeforeEnd(samples.jpeg, 2, Buffer.concat(inserted));
      // Stray bytes directly after the data of a scan cannot be told from it.
      await expectCleaned(t, `${kind} ${what}, last`, last(metadata, ...pieces), samples.jpeg);
    });
    for (const change of [-1, -2, -7]) {
      await expectCleaned(t, `${kind}, a length of ${change}`, jpeg([withLength(metadata, change)]), samples.jpeg);
    }
    const tooLong = jpeg([withLength(metadata, 1), maker]);
    await expectCleaned(t, `${kind}, a length that includes the next marker`, tooLong, samples.jpeg);
    const endless = Buffer.concat([samples.jpeg.subarray(0, -2), withLength(metadata, 999)]);
    await expectCleaned(t, `${kind}, a length beyond the end`, endless, samples.jpeg);
    const withoutEnd = Buffer.concat([samples.jpeg.subarray(0, -2), metadata, Buffer.alloc(3)]);
    await expectCleaned(t, `${kind} instead of the end`, withoutEnd, samples.jpeg);
  }
  for (const length of [0, 1, 2]) {
    const [comment, table] = [segment(0xfe, SECRET), segment(0xc4, SECRET)];
    for (const element of [comment, table]) element.writeUInt16BE(length, 2);
    await expectCleaned(t, `a length of ${length}`, jpeg([comment]), samples.jpeg);
    await expectCleaned(t, `a table with a length of ${length}`, jpeg([table]), jpeg([table.subarray(0, 4)]));
  }
  const restart = Buffer.from([0xff, 0xd0, 0xff, 0x01]);
  await expectCleaned(t, 'markers without a segment', jpeg([restart, segment(0xfe, SECRET)]), samples.jpeg);
  const turned = app1(tiff(6, { minimal: true }));
  await expectCleaned(t, 'a turned image', jpeg([Buffer.from('x'), app1(tiff(6))]), jpeg([turned]));
  const withoutEnd = samples.jpeg.subarray(0, -2);
  const followed = Buffer.concat([withoutEnd, jpeg([segment(0xfe, SECRET)])]);
  await expectCleaned(t, 'another image instead of the end', followed, samples.jpeg);
});

t.test('removes metadata next to stray bytes in a GIF', async (t) => {
  for (const [kind, metadata] of Object.entries({
    comment: gifExtension(0xfe, SECRET),
    xmp: gifExtension(0xff, 'XMP DataXMP', SECRET),
    'unknown application': gifExtension(0xff, 'MAKERMKR1.0', SECRET),
    text: gifExtension(0x01, 'x'.repeat(12), SECRET),
  })) {
    const last = (...inserted: Buffer[]) => insertBeforeEnd(samples.gif, 1, Buffer.concat(inserted));
    await forEachStray(metadata, async (what, pieces, left) => {
      await expectCleaned(t, `${kind} ${what}`, gif(...pieces), gif(left));
      await expectCleaned(t, `${kind} ${what}, last`, last(...pieces), last(left));
    });
    // A wrong length of a block shifts all that follows, so that only metadata after the frame leaves an image.
    for (const change of [-1, 1, 99]) {
      const wrong = Buffer.from(metadata);
      wrong[wrong.length - SECRET.length - 2] = SECRET.length + change;
      await expectCleaned(t, `${kind}, a length of ${change}`, last(wrong), samples.gif.subarray(0, -1));
    }
    await expectCleaned(t, `${kind}, without an end`, last(metadata).subarray(0, -3), samples.gif.subarray(0, -1));
  }
  const comma = Buffer.from('Jane, 555-0100');
  await expectCleaned(t, 'a text that looks like a frame', gif(comma), samples.gif);
});

t.test('removes metadata from a PNG whose end is damaged', async (t) => {
  const text = pngChunk('tEXt', `Author\0${SECRET}`);
  const [withoutEnd, withText] = [samples.png.subarray(0, -12), insertBeforeEnd(samples.png, 12, text)];
  await expectUnchanged(t, 'without an end', withoutEnd);
  await expectCleaned(t, 'text, without an end', png(text).subarray(0, -12), withoutEnd);
  await expectCleaned(t, 'text as the end', withText.subarray(0, -12), withoutEnd);
  for (const cut of [1, 4, 5, 11, 13, 20]) {
    await expectUnchanged(t, `${cut} bytes are missing`, samples.png.subarray(0, -cut));
    await expectCleaned(
      t,
      `text, ${cut} bytes are missing`,
      png(text).subarray(0, -cut),
      samples.png.subarray(0, -cut),
    );
  }
  await expectCleaned(t, 'text that is cut short', withText.subarray(0, -14), samples.png);
  await forEachStray(text, async (what, pieces) => {
    const damaged = insertBeforeEnd(samples.png, 12, Buffer.concat(pieces));
    await expectCleaned(t, `text ${what}`, damaged, samples.png);
    // Decoders do not show an image with stray bytes before its pixels.
    await expectRefused(t, `text ${what}, first`, png(...pieces));
  });
  for (const change of [-1, 1, 99, -SECRET.length]) {
    const wrong = withLength(Buffer.concat([Buffer.alloc(2), text.subarray(2)]), change);
    await expectCleaned(t, `a length of ${change}`, insertBeforeEnd(samples.png, 12, wrong), samples.png);
    await expectRefused(t, `a length of ${change}, first`, png(wrong));
  }
  await expectUnchanged(t, 'stray bytes without text', png(Buffer.from('x')));
});

t.test('removes metadata from a WebP whose lengths are wrong', async (t) => {
  const [exif, xmp] = [webpChunk('EXIF', tiff(1)), webpChunk('XMP ', SECRET)];
  const cleaned = riff(vp8x(0), webpImage);
  const withSize = (bytes: Buffer, change: number) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt32LE(copy.readUInt32LE(4) + change, 4);
    return copy;
  };
  for (const [kind, metadata] of Object.entries({ exif, xmp, maker: webpChunk('MAKR', SECRET) })) {
    const whole = riff(vp8x(0x0c), webpImage, metadata);
    for (const change of [-metadata.length, -3, -1, 1, 2, 0xffff]) {
      await expectCleaned(t, `${kind}, a size of ${change}`, withSize(whole, change), cleaned);
      await expectUnchanged(t, `no metadata, a size of ${change}`, withSize(cleaned, change));
    }
    for (const cut of [1, 2, metadata.length - 1]) {
      await expectCleaned(t, `${kind}, ${cut} bytes are missing`, whole.subarray(0, -cut), cleaned);
    }
    await forEachStray(metadata, async (what, pieces) => {
      const after = riff(vp8x(0x0c), webpImage, ...pieces);
      const left = (await clean(after)) as Buffer;
      t.notOk(left.includes(SECRET), `${kind} ${what}`);
      t.strictSame(left.subarray(30, 30 + webpImage.length), webpImage, `${kind} ${what}: the image`);
      await expectUnchanged(t, `${kind} ${what}: nothing is left to remove`, left);
    });
    for (const change of [-2, -1, 1, 999, 0xffffff]) {
      const wrong = Buffer.from(metadata);
      wrong.writeUInt32LE(wrong.readUInt32LE(4) + change, 4);
      await expectCleaned(t, `${kind}, a length of ${change}`, riff(vp8x(0x0c), webpImage, wrong), cleaned);
    }
  }
  const turned = riff(vp8x(0x08), webpImage, webpChunk('EXIF', tiff(6))).subarray(0, -3);
  const minimal = webpChunk('EXIF', tiff(6, { minimal: true }));
  await expectCleaned(t, 'a turned image that is cut short', turned, riff(vp8x(0x08), webpImage, minimal));
  const frame = (...chunks: Buffer[]) => webpChunk('ANMF', Buffer.concat([Buffer.alloc(16), webpImage, ...chunks]));
  for (const stray of [Buffer.from('stray'), xmp.subarray(0, -4), Buffer.concat([Buffer.from('x'), xmp])]) {
    await expectCleaned(t, 'in a frame', riff(vp8x(2), frame(stray), frame()), riff(vp8x(2), frame(), frame()));
  }
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
      const distant = fake('x'.repeat(1024 * 1024 - head.length - 1) + sign);
      await expectRefused(t, `${kind} with ${sign} across the end of a slice`, distant);
    }
  }
  const jpegLs = [segment(0xf7, '\x08\0\x01\0\x01\x01\x01\x11\0'), segment(0xda, '\x01\x01\0\0\0\0'), Buffer.alloc(9)];
  await expectUnchanged(t, 'a JPEG-LS', Buffer.concat([samples.jpeg.subarray(0, 20), ...jpegLs]));
  const jfifWithThumbnail = segment(0xe0, `JFIF\0\x01\x01\0\0\x01\0\x01\x01\x01${SECRET}`);
  const track = box('moov', fullBox('mvhd', 0, 'sometime', 'rest'), box('trak', fullBox('tkhd', 0)));
  for (const [what, bytes] of Object.entries({
    'a PNG with a text chunk that is cut short': png(pngChunk('tEXt', SECRET)).subarray(0, 50),
    'a JPEG with a comment': Buffer.concat([jpeg([segment(0xfe, SECRET)]).subarray(0, 60), Buffer.alloc(9)]),
    'a thumbnail before a second start marker': jpeg([segment(0xe0, `JFXX\0\x10${SECRET}`), samples.jpeg]),
    'a JFIF thumbnail before a second start marker': jpeg([jfifWithThumbnail, samples.jpeg]),
    'a JPEG with a maker’s segment before a second start marker': jpeg([
      segment(0xe4, `${SECRET} Maker`),
      samples.jpeg,
    ]),
    'a GIF with a comment that is cut short': gif(gifExtension(0xfe, SECRET)).subarray(0, 30),
    'a GIF with a comment, cut short within its first frame': gif(gifExtension(0xfe, SECRET)).subarray(0, 40),
    'a WebP with Exif before its image, which is missing': riff(vp8x(8), webpChunk('EXIF', tiff(6))),
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
  // The dimensions of a track are in pixels and 65,536ths. Boxes may be longer than their fields.
  for (const [version, place] of [
    [0, 76],
    [1, 88],
  ] as const) {
    for (const [width, isAccepted] of [
      [16_384, true],
      [16_385, false],
    ] as const) {
      const fields = Buffer.concat([Buffer.alloc(place - 4), u16(width), u16(0), u16(16_384), u16(0), Buffer.alloc(8)]);
      const track = box('trak', fullBox('tkhd', version, fields));
      const sequence = avif([{ type: 'av01', data: 'x' }], { moov: [box('moov', track)] });
      t.strictSame(await clean(sequence), isAccepted ? sequence : 'too_many_pixels', `version ${version}, ${width}`);
    }
  }
});

t.test('rejects metadata in more than 5000 pieces, or in a file of more than 50,000 elements', async (t) => {
  const control = gifExtension(0xf9, '\0\0\0\0');
  const pieces = (count: number) =>
    gif(...Array.from({ length: count }, () => [gifExtension(0xfe, 'x'), control]).flat());
  t.type(await clean(pieces(5000)), Buffer);
  await expectRefused(t, 'one piece more', pieces(5001));
  const many = (bytes: Buffer, count: number) => Buffer.alloc(count * bytes.length, bytes);
  // Adjacent pieces count as one.
  const texts = many(pngChunk('tEXt', ''), 40_000);
  await expectCleaned(t, 'many chunks', png(texts), samples.png);
  await expectRefused(t, 'more chunks', png(texts, texts));
  await expectUnchanged(t, 'many frames', gif(many(control, 60_000)));
  await expectRefused(t, 'many frames and a comment', gif(gifExtension(0xfe, SECRET), many(control, 60_000)));
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
      // The end of a PNG may be longer than the bytes that it replaces.
      if (once.length > bytes.length + 4 || typeof twice === 'string' || !twice.equals(once)) {
        t.fail(`run ${run}: larger, or changed when cleaned again`, { image: bytes.toString('base64') });
      }
    }
    t.ok(cleaned > 0, `${cleaned} of ${runs} cleaned`);
  });
}
