import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { appendFile, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { cleanImage } from '../../handlers/policy/image-metadata/index.js';
import { detectImageType } from '../../handlers/policy/image-types.js';
import { samples } from '../../scripts/contract-test/client/index.js';
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
