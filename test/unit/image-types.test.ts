import t from 'tap';
import {
  detectImageType,
  extensionOf,
  HEAD_BYTES,
  imageTypes,
  mediaTypeOf,
} from '../../handlers/policy/image-types.js';
import { samples } from '../../scripts/contract-test/client/index.js';

const detected = (...parts: (string | Uint8Array)[]) =>
  detectImageType(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))))?.mediaType;

/** Returns the first box of an ISO base media file. */
function ftyp(major: string, compatible: string[], size = 16 + 4 * compatible.length): Buffer {
  const box = Buffer.from(`....ftyp${major}\0\0\0\0${compatible.join('')}`, 'latin1');
  box.writeUInt32BE(size);
  return box;
}

t.test('detects AVIF by the brands of the ftyp box', async (t) => {
  const version = ftyp('mif1', ['miaf']);
  version.write('avif', 12);
  const fillBrands = (count: number) => Array<string>(count).fill('miaf');
  for (const [what, isAvif, ...parts] of [
    ['a box to the end of the file', true, ftyp('mif1', ['avif'], 0)],
    ['a brand at the end of a long list', true, ftyp('mif1', [...fillBrands(900), 'avif'])],
    ['after the end of the box', false, ftyp('mif1', ['miaf']), 'avif'],
    ['beyond the box size', false, ftyp('mif1', ['miaf', 'avif'], 20)],
    ['partly beyond the box size', false, ftyp('mif1', ['miaf', 'avif'], 22)],
    ['across two brands', false, ftyp('mif1', ['.avi', 'f...'])],
    ['beyond the bytes that are read', false, ftyp('mif1', [...fillBrands(HEAD_BYTES / 4), 'avif'])],
    ['cut short', false, ftyp('avif', []).subarray(0, 11)],
    ['a box that is too small', false, ftyp('avif', [], 4)],
    ['as the version of another brand', false, version],
  ] as const) {
    t.equal(detected(...parts), isAvif ? 'image/avif' : undefined, what);
  }
});

t.test('detects the type at any offset of a buffer', async (t) => {
  const page = Buffer.concat([Buffer.from('GIF89a'), samples.png]);
  t.equal(detectImageType(page.subarray(6))?.mediaType, 'image/png');
  t.equal(detectImageType(new Uint8Array(samples.webp))?.mediaType, 'image/webp');
});

t.test('maps the extension of a stored file to its media type, and back', async (t) => {
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
