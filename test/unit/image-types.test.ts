import { fileTypeFromBuffer } from 'file-type';
import t from 'tap';
import {
  canonicalMediaType,
  detectImageType,
  extensionOf,
  HEAD_BYTES,
  imageTypes,
  mediaTypeOf,
} from '../../handlers/policy/image-types.js';
import { samples } from '../../scripts/contract-test/images.js';

const detected = (...parts: (string | Uint8Array)[]) =>
  detectImageType(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))))?.mediaType;

/** Returns the first box of an ISO base media file. */
function ftyp(major: string, compatible: string[], size = 16 + 4 * compatible.length): Buffer {
  const box = Buffer.from(`....ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1');
  box.writeUInt32BE(size);
  return box;
}

t.test('detects every sample, in agreement with file-type', async (t) => {
  for (const [kind, bytes] of Object.entries(samples)) {
    t.equal(detectImageType(bytes)?.mediaType, canonicalMediaType(`image/${kind}`), kind);
    t.equal((await fileTypeFromBuffer(bytes))?.mime, `image/${kind}`, `${kind}, second opinion`);
  }
});

t.test('detects a type by its signature alone', async (t) => {
  t.equal(detected('\x89PNG\r\n\x1a\n'), 'image/png');
  t.equal(detected('\x89PNG\r\n\x1a\n', 'no chunk at all'), 'image/png');
  t.equal(detected('\xff\xd8\xff'), 'image/jpeg');
  t.equal(detected('\xff\xd8\xff\xf7'), 'image/jpeg', 'file-type detects another format');
  t.equal(detected('GIF87a'), 'image/gif');
  t.equal(detected('GIF89a'), 'image/gif');
  t.equal(detected('RIFF\0\0\0\0WEBP'), 'image/webp');
});

t.test('rejects everything else', async (t) => {
  for (const head of [
    '',
    'G',
    'plain text',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '%PDF-1.7',
    'BM\0\0\0\0',
    'II*\0',
    'GIFxyz',
    'GIF88a',
    'GIF89',
    'gif89a',
    '\x89PNG\r\n\x1a',
    '\x89PNG\n\x1a\n\n',
    '\xff\xd8',
    '\xff\xd8\xfe',
    'RIFF\0\0\0\0WAVE',
    'RIFF\0\0\0\0WEB',
    'RIFX\0\0\0\0WEBP',
  ]) {
    t.equal(detected(head), undefined, JSON.stringify(head));
  }
});

t.test('rejects an image with a prefix', async (t) => {
  for (const bytes of Object.values(samples)) {
    t.equal(detected('\xef\xbb\xbf', bytes), undefined, 'a byte-order mark');
    t.equal(detected('ID3\x04\0\0\0\0\0\0', bytes), undefined, 'an ID3 tag');
    t.equal(detected('\n', bytes), undefined, 'a line break');
  }
});

t.test('detects AVIF by the brands of the ftyp box', async (t) => {
  t.equal(detected(ftyp('avif', [])), 'image/avif', 'major');
  t.equal(detected(ftyp('avis', ['msf1'])), 'image/avif', 'major, a sequence');
  t.equal(detected(ftyp('mif1', ['miaf', 'avif'])), 'image/avif', 'compatible');
  t.equal(detected(ftyp('msf1', ['avis'])), 'image/avif', 'compatible, a sequence');
  t.equal(detected(ftyp('mif1', ['avif'], 0)), 'image/avif', 'a box to the end of the file');
  t.equal(
    detected(ftyp('mif1', [...Array<string>(900).fill('miaf'), 'avif'])),
    'image/avif',
    'at the end of a long list',
  );
  t.equal(detected(ftyp('heic', ['mif1', 'miaf'])), undefined, 'HEIC');
  t.equal(detected(ftyp('mp42', ['isom'])), undefined, 'video');
  t.equal(detected(ftyp('mif1', ['miaf']), 'avif'), undefined, 'after the end of the box');
  t.equal(detected(ftyp('mif1', ['miaf', 'avif'], 20)), undefined, 'beyond the box size');
  t.equal(detected(ftyp('mif1', ['miaf', 'avif'], 22)), undefined, 'partly beyond the box size');
  t.equal(detected(ftyp('mif1', ['.avi', 'f...'])), undefined, 'across two brands');
  const long = [...Array<string>(HEAD_BYTES / 4).fill('miaf'), 'avif'];
  t.equal(detected(ftyp('mif1', long)), undefined, 'beyond the bytes that are read');
  t.equal(detected(ftyp('avif', []).subarray(0, 11)), undefined, 'cut short');
  t.equal(detected(ftyp('avif', [], 4)), undefined, 'a box that is too small');
  const version = ftyp('mif1', ['miaf']);
  version.write('avif', 12);
  t.equal(detected(version), undefined, 'as the version of another brand');
});

t.test('reads only the head, at any offset of its buffer', async (t) => {
  const page = Buffer.concat([Buffer.from('GIF89a'), samples.png]);
  t.equal(detectImageType(page.subarray(6))?.mediaType, 'image/png');
  t.equal(detectImageType(new Uint8Array(samples.webp))?.mediaType, 'image/webp');
});

t.test('normalizes declared media types', async (t) => {
  t.equal(canonicalMediaType('image/jpg'), 'image/jpeg');
  t.equal(canonicalMediaType('image/apng'), 'image/png');
  t.equal(canonicalMediaType('image/png'), 'image/png');
  t.equal(canonicalMediaType('constructor'), 'constructor');
});

t.test('recognizes stored file names', async (t) => {
  for (const { mediaType, extension } of imageTypes) {
    t.equal(mediaTypeOf(`0f3a.${extension}`), mediaType);
    t.equal(extensionOf(mediaType), extension);
  }
  t.equal(mediaTypeOf('a.b.png'), 'image/png');
  for (const name of ['', 'png', '.png', 'a.', 'a.svg', 'a.png.html', 'a.jpeg', 'a.__proto__']) {
    t.equal(mediaTypeOf(name), undefined, name);
  }
  t.throws(() => extensionOf('image/svg+xml'), TypeError);
});
