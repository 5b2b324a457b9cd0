import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { appendFile, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cleanImage } from '../../handlers/policy/image-metadata/index.js';
import { detectImageType } from '../../handlers/policy/image-types.js';
import { samples, segment, tiff } from '../../scripts/contract-test/client/index.js';
import { findCommand } from '../../scripts/services/programs.js';
import { temporaryDirectory } from '../support/stores.js';

// The files are created and inspected by common tools, independently of the service's own parsers.
const tools = ['exiftool', 'convert', 'identify', 'cwebp', 'gif2webp', 'webpmux', 'avifenc'];
const missing = tools.filter((tool) => !findCommand(tool));
const skip = missing.length > 0 && `needs ${missing.join(', ')}`;

const folder = await temporaryDirectory(t);
const pathOf = (name: string) => join(folder, name);
const run = (tool: string, ...args: string[]) =>
  execFileSync(tool, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024, stdio: ['ignore', 'pipe', 'ignore'] });

/** Part of most identifying metadata. It must not be in the file after cleaning. */
const SECRET = 'Identifying';

/** Returns an ICC profile with one tag, a copyright. The tools store it as it is, and convert no color. */
function colorProfile(): Buffer {
  const profile = Buffer.alloc(160);
  profile.writeUInt32BE(profile.length);
  profile.write('\x02\x10\0\0mntrRGB XYZ ', 8, 'latin1');
  profile.write('acsp', 36);
  // The illuminant of the profile connection space, which is always D50.
  for (const [index, value] of [0.9642, 1, 0.8249].entries())
    profile.writeInt32BE(Math.round(value * 65_536), 68 + 4 * index);
  profile.writeUInt32BE(1, 128);
  profile.write('cprt\0\0\0\x90\0\0\0\x10text\0\0\0\0None', 132, 'latin1');
  return profile;
}

const EXIF = [
  '-EXIF:GPSLatitude=51.4778',
  '-EXIF:GPSLatitudeRef=N',
  '-EXIF:GPSLongitude=0.0014',
  '-EXIF:GPSLongitudeRef=W',
  `-EXIF:SerialNumber=${SECRET}-4711`,
  `-EXIF:LensSerialNumber=${SECRET}-0815`,
  `-EXIF:Artist=${SECRET}`,
  `-EXIF:UserComment=${SECRET}`,
  '-EXIF:DateTimeOriginal=2026:01:31 12:00:00',
  '-EXIF:Orientation#=6',
];
const XMP = [`-XMP-dc:Creator=${SECRET}`, `-XMP-dc:Description=${SECRET}`, '-XMP-exif:GPSLatitude=51.4778'];

/** Creates a copy of a file with metadata, and returns its name. */
async function createTagged(source: string, name: string, ...args: string[]): Promise<string> {
  await copyFile(pathOf(source), pathOf(name));
  run('exiftool', '-q', '-overwrite_original', '-icc_profile<=profile.icc', ...EXIF, ...XMP, ...args, name);
  return name;
}

/** Creates the files without metadata, from which the others are made. */
async function createSources(): Promise<void> {
  await writeFile(pathOf('profile.icc'), colorProfile());
  run('convert', '-seed', '1', '-size', '48x32', 'plasma:red-blue', 'base.png');
  run('convert', 'base.png', '-strip', '-quality', '90', 'base.jpg');
  run('convert', 'base.png', '-strip', '-interlace', 'Plane', '-sampling-factor', '2x2', 'progressive.jpg');
  run('convert', 'base.png', '-strip', '-define', 'jpeg:restart-interval=2', 'restart.jpg');
  run('convert', 'base.png', '-strip', '-colorspace', 'CMYK', 'cmyk.jpg');
  run('convert', 'base.jpg', '-resize', '24x16', 'thumbnail.jpg');
  run('convert', '-delay', '20', '-loop', '3', 'base.png', '(', 'base.png', '-flop', ')', 'base.gif');
  run('cwebp', '-quiet', 'base.png', '-o', 'base.webp');
  run('gif2webp', '-quiet', 'base.gif', '-o', 'animated.webp');
  run('avifenc', '--speed', '10', '--irot', '1', '--icc', 'profile.icc', 'base.png', 'base.avif');
}

const VIDEO = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\x10\x08mdat', 'latin1'),
  Buffer.alloc(4096, SECRET),
]);

const JPEG_EXTRAS = [
  `-IPTC:By-line=${SECRET}`,
  '-IPTC:City=Greenwich',
  `-Photoshop:CaptionWriter=${SECRET}`,
  `-Comment=${SECRET}`,
  '-EXIF:ThumbnailImage<=thumbnail.jpg',
];

/** Another JPEG and text, as in a file with several images. */
const IMAGES = Buffer.concat([samples.jpeg, Buffer.from(SECRET), Buffer.from([0xff, 0xd9])]);

/** Each function creates a file with metadata, and returns its name. Some files have a trailer. */
const files: [title: string, create: () => Promise<string>, trailer?: Buffer][] = [
  ['a JPEG followed by a video', () => createTagged('base.jpg', 'full.jpg', ...JPEG_EXTRAS), VIDEO],
  ['a progressive JPEG followed by images', () => createTagged('progressive.jpg', 'more.jpg', ...JPEG_EXTRAS), IMAGES],
  ['a JPEG with restart markers', () => createTagged('restart.jpg', 'tagged-restart.jpg', ...JPEG_EXTRAS)],
  ['a JPEG in CMYK', () => createTagged('cmyk.jpg', 'tagged-cmyk.jpg', `-Comment=${SECRET}`)],
  [
    'a PNG with text chunks',
    () => {
      const text = ['-set', 'Author', SECRET, '-set', 'Location', `${SECRET}, at length. `.repeat(200)];
      run('convert', 'base.png', ...text, '-set', 'comment', `${SECRET} é`, 'text.png');
      return createTagged('text.png', 'full.png', `-PNG:Title=${SECRET}`, '-PNG:ModifyDate=2026:01:31 12:00:00');
    },
    VIDEO,
  ],
  [
    'an animated GIF',
    async () => {
      await copyFile(pathOf('base.gif'), pathOf('full.gif'));
      run('exiftool', '-q', '-overwrite_original', `-Comment=${SECRET}`, ...XMP, 'full.gif');
      return 'full.gif';
    },
    Buffer.from(SECRET),
  ],
  ['a WebP', () => createTagged('base.webp', 'full.webp')],
  ['an animated WebP', () => createTagged('animated.webp', 'tagged-animated.webp')],
  ['an AVIF by exiftool', () => createTagged('base.avif', 'full.avif')],
  ['an AVIF by avifenc', () => encodeAvif('by-avifenc.avif', 1), VIDEO],
  ['an AVIF sequence by avifenc', () => encodeAvif('sequence.avif', 2)],
];

/** Encodes frames with metadata as an AVIF, and returns its name. */
async function encodeAvif(name: string, frames: number): Promise<string> {
  await createTagged('base.jpg', 'frame.jpg');
  run('avifenc', '--speed', '10', '--icc', 'profile.icc', ...Array(frames).fill('frame.jpg'), name);
  return name;
}

const pixelsOf = (name: string) => hash('sha256', run('convert', name, '-depth', '8', 'rgba:-'));
const appearanceOf = (name: string) =>
  String(run('identify', '-format', '%T %wx%h %[orientation] %[colorspace]\n', name));
const profileOf = (name: string) => run('exiftool', '-b', '-icc_profile', name);

/** The value of a mandatory time field that has been cleared. */
const NO_TIME = '0000:00:00 00:00:00';

/** Returns the metadata that exiftool finds, without properties of the file itself. */
function metadataOf(name: string): Record<string, unknown> {
  const [all] = JSON.parse(String(run('exiftool', '-json', '-a', '-u', '-G1', '-ee', name)));
  return Object.fromEntries(
    Object.entries(all).filter(
      ([tag, value]) => !/^(SourceFile|System|ExifTool|Composite|ICC)/.test(tag) && value !== NO_TIME,
    ),
  );
}

t.test(
  'removes the metadata that exiftool finds, and keeps the pixels that ImageMagick decodes',
  { skip },
  async (t) => {
    await createSources();
    for (const [title, create, trailer] of files) {
      await t.test(title, async (t) => {
        const name = await create();
        const path = pathOf(name);
        // Some decoders reject a file with a trailer.
        const [pixels, appearance, profile] = [pixelsOf(name), appearanceOf(name), profileOf(name)];
        await appendFile(path, trailer ?? '');
        const before = await readFile(path);
        t.ok(before.includes(SECRET), 'the file contains the secret');

        const mediaType = String(detectImageType(before)?.mediaType);
        const size = await cleanImage({ path, size: before.length, mediaType }, { stripMetadata: true });
        t.equal(size, (await stat(path)).size);
        t.ok(size <= before.length);
        t.notOk((await readFile(path)).includes(SECRET));
        const left = metadataOf(name);
        t.notMatch(JSON.stringify(left), new RegExp(SECRET));
        const identifying = /GPS|Serial|Artist|Creat|Author|Comment|Date|Thumbnail|Trailer|IPTC|XMP|Photoshop|MPF/;
        const found = Object.keys(left).filter((tag) => identifying.test(tag));
        t.same(found, [], JSON.stringify(left));
        t.equal(pixelsOf(name), pixels, 'the pixels are unchanged');
        t.equal(appearanceOf(name), appearance, 'orientation, frames and colors are unchanged');
        t.ok(profileOf(name).equals(profile), 'the color profile is unchanged');
        const exif = Object.keys(left).filter((tag) => /^(IFD|Exif)/.test(tag));
        t.same(exif, name === 'full.gif' ? [] : ['IFD0:Orientation'], 'only the orientation is kept of Exif');
      });
    }
  },
);

/** Bytes that decoders skip between the elements of a file, by description. */
const STRAYS: Record<string, Buffer> = {
  'one zero': Buffer.from([0]),
  'one byte': Buffer.from('x'),
  'five bytes': Buffer.from('stray'),
  'fill bytes': Buffer.alloc(5, 0xff),
};

/** Inserts bytes at an offset of a file. */
const insertAt = (bytes: Buffer, at: number, ...inserted: Buffer[]) =>
  Buffer.concat([bytes.subarray(0, at), ...inserted, bytes.subarray(at)]);

/** Returns the positions and lengths of the segments before the first scan of a JPEG. */
function segmentsOf(bytes: Buffer): { at: number; length: number; marker: number }[] {
  const segments = [];
  for (let at = 2; bytes[at + 1] !== 0xda; ) {
    const length = 2 + bytes.readUInt16BE(at + 2);
    segments.push({ at, length, marker: bytes.readUInt8(at + 1) });
    at += length;
  }
  return segments;
}

/** Returns variants of a JPEG that are damaged at each segment with metadata. Decoders show them as they show the original. */
function damageJpeg(bytes: Buffer): [what: string, damaged: Buffer][] {
  return segmentsOf(bytes).flatMap(({ at, length, marker }): [string, Buffer][] => {
    const name = `segment ${marker.toString(16)} at ${at}`;
    const places = Object.entries(STRAYS).flatMap(([what, stray]): [string, Buffer][] => [
      // The first segment must directly follow the signature.
      ...(at > 2 ? ([[`${name} after ${what}`, insertAt(bytes, at, stray)]] as [string, Buffer][]) : []),
      [`${name} before ${what}`, insertAt(bytes, at + length, stray)],
    ]);
    const isMetadata = marker === 0xfe || (marker > 0xe0 && marker !== 0xe2 && marker !== 0xee);
    if (!isMetadata) return places;
    const tooShort = Buffer.from(bytes);
    tooShort.writeUInt16BE(length - 3, at + 2);
    return [...places, [`${name} with a length that is one too small`, tooShort]];
  });
}

/** Returns the position after the color table of a GIF, where its blocks begin. */
const blocksOf = (bytes: Buffer) => 13 + 3 * 2 ** ((bytes.readUInt8(10) & 7) + 1);

const comment = Buffer.from(`!\xfe\x0b${SECRET}\0`, 'latin1');

/** Returns variants of a GIF with a comment and stray bytes at its start and at its end. */
const damageGif = (bytes: Buffer): [what: string, damaged: Buffer][] =>
  Object.entries(STRAYS).flatMap(([what, stray]) =>
    [blocksOf(bytes), bytes.length - 1].flatMap((at): [string, Buffer][] => [
      [`a comment before ${what} at ${at}`, insertAt(bytes, at, comment, stray)],
      [`a comment after ${what} at ${at}`, insertAt(bytes, at, stray, comment)],
      [`comments around ${what} at ${at}`, insertAt(bytes, at, comment, stray, comment)],
    ]),
  );

t.test('removes metadata from damaged files that decoders show', { skip }, async (t) => {
  await createSources();
  const extras = [...JPEG_EXTRAS, '-Ducky:Comment=Identifying'];
  for (const [source, extension, damage] of [
    [await createTagged('base.jpg', 'damaged.jpg', ...extras), 'jpg', damageJpeg],
    ['base.gif', 'gif', damageGif],
  ] as const) {
    const original = await readFile(pathOf(source));
    const [pixels, name] = [pixelsOf(source), `variant.${extension}`];
    for (const [what, damaged] of damage(original)) {
      await writeFile(pathOf(name), damaged);
      t.equal(pixelsOf(name), pixels, `${source}, ${what}: the decoder ignores the damage`);
      const appearance = appearanceOf(name);
      const mediaType = String(detectImageType(damaged)?.mediaType);
      await cleanImage({ path: pathOf(name), size: damaged.length, mediaType }, { stripMetadata: true });
      t.notOk((await readFile(pathOf(name))).includes(SECRET), `${source}, ${what}: the metadata is gone`);
      t.notMatch(JSON.stringify(metadataOf(name)), /Identifying|Comment|Artist|GPS|XMP/);
      t.equal(pixelsOf(name), pixels, `${source}, ${what}: the pixels are unchanged`);
      t.equal(appearanceOf(name), appearance, `${source}, ${what}: orientation, frames and colors are unchanged`);
    }
  }
});

t.test('removes metadata from files whose end or size is wrong', { skip }, async (t) => {
  await createSources();
  const clean = async (name: string, bytes: Buffer) => {
    await writeFile(pathOf(name), bytes);
    const mediaType = String(detectImageType(bytes)?.mediaType);
    await cleanImage({ path: pathOf(name), size: bytes.length, mediaType }, { stripMetadata: true });
    t.notOk((await readFile(pathOf(name))).includes(SECRET), name);
    t.notMatch(JSON.stringify(metadataOf(name)), /Identifying|Artist|GPS|XMP/, name);
  };
  const png = await readFile(pathOf(await createTagged('base.png', 'tagged.png', `-PNG:Title=${SECRET}`)));
  await clean('without-end.png', png.subarray(0, -12));
  await clean('stray.png', insertAt(png, png.length - 12, Buffer.from('x'), png.subarray(33, -12), Buffer.from('x')));
  t.equal(pixelsOf('stray.png'), pixelsOf('base.png'), 'the end replaces what decoders do not read');

  const webp = await readFile(pathOf(await createTagged('base.webp', 'tagged.webp')));
  const turned = appearanceOf('tagged.webp');
  for (const change of [-1, 1]) {
    const wrong = Buffer.from(webp);
    wrong.writeUInt32LE(webp.readUInt32LE(4) + change, 4);
    await clean('size.webp', wrong);
    t.equal(pixelsOf('size.webp'), pixelsOf('base.webp'));
    t.equal(appearanceOf('size.webp'), turned);
  }
});

t.test('keeps the orientation of JPEG whatever integer type it has', { skip }, async (t) => {
  await createSources();
  for (const [type, size] of [
    [1, 1],
    [4, 4],
    [9, 4],
  ]) {
    const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff(6, { little: true, type, size })]));
    const path = pathOf('typed.jpg');
    const bytes = insertAt(await readFile(pathOf('base.jpg')), 2, exif);
    await writeFile(path, bytes);
    await cleanImage({ path, size: bytes.length, mediaType: 'image/jpeg' }, { stripMetadata: true });
    t.match(appearanceOf('typed.jpg'), /RightTop/, `type ${type}`);
    t.notOk((await readFile(path)).includes(SECRET), `type ${type}`);
  }
});
