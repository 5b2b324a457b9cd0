import t from 'tap';
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
  vp8x,
  webpChunk,
  webpImage,
} from '../../scripts/contract-test/image-builders.js';
import { samples } from '../../scripts/contract-test/images.js';
import { pngChunk } from '../../scripts/png.js';
import { createImageCleaner } from '../support/clean-image.js';
import { type Random, randomFor } from '../support/random.js';

// SEED repeats a run, RUNS sets the number of corrupted files of each format.
const seed = process.env.SEED ?? String(Date.now());
const runs = Number(process.env.RUNS ?? 150);

const clean = await createImageCleaner(t);

/** Valid images with a lot of metadata. */
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
const NASTY_BYTES = [0, 1, 2, 8, 0x21, 0x2c, 0x3b, 0x7f, 0x80, 0xd9, 0xda, 0xe1, 0xfe, 0xff];

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
        [before, Buffer.alloc(piece.length, pick(NASTY_BYTES)), after],
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
      const bytes = corrupt(original, randomFor(seed, run));
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
