import { deflateSync, type ZlibOptions } from 'node:zlib';
import { PNG_SIGNATURE, pngChunk, pngHeader, toBytes } from '../../support/png.js';
import { samples } from './images.js';

/** Metadata that the service must remove. */
export const SECRET = 'Identifying';

/** Returns the bytes of a text, one for each character. */
export const latin1 = (text: string) => Buffer.from(text, 'latin1');
export const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
export const u32 = (value: number) => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)]);
const u32le = (value: number) => u32(value).reverse();

/**
 * Returns a TIFF structure with an orientation, if any, and, unless `minimal`, an artist. The orientation has an integer type
 * of `size` bytes; the default is SHORT.
 */
export function tiff(
  orientation: number | undefined,
  { little = false, minimal = false, type = 3, size = 2 } = {},
): Buffer {
  const order = (bytes: Buffer) => (little ? bytes.reverse() : bytes);
  const entry = (tag: number, type: number, count: number, value: Buffer) =>
    Buffer.concat([order(u16(tag)), order(u16(type)), order(u32(count)), value]);
  const entries: Buffer[] = [];
  if (orientation !== undefined) {
    const value = order(u32(orientation).subarray(4 - size));
    entries.push(entry(0x0112, type, 1, Buffer.concat([value, Buffer.alloc(4 - size)])));
  }
  // The artist follows the header (8 bytes), the entry count (2), the entries (12 each) and the next directory's offset (4).
  const artistAt = 14 + 12 * (entries.length + 1);
  if (!minimal) entries.push(entry(0x013b, 2, SECRET.length + 1, order(u32(artistAt))));
  return Buffer.concat([
    latin1(little ? 'II*\0' : 'MM\0*'),
    order(u32(8)),
    order(u16(entries.length)),
    ...entries,
    u32(0),
    latin1(minimal ? '' : `${SECRET}\0`),
  ]);
}

export const segment = (marker: number, data: string | Buffer) => {
  const bytes = toBytes(data);
  return Buffer.concat([Buffer.from([0xff, marker]), u16(2 + bytes.length), bytes]);
};

/** Returns the sample JPEG with `segments` after its JFIF segment and `beforeScan` before its scan. */
export function jpeg(segments: Buffer[], beforeScan: Buffer[] = []): Buffer {
  const scan = samples.jpeg.indexOf('\xff\xda', 0, 'latin1');
  const [start, tables, rest] = [
    samples.jpeg.subarray(0, 20),
    samples.jpeg.subarray(20, scan),
    samples.jpeg.subarray(scan),
  ];
  return Buffer.concat([start, ...segments, tables, ...beforeScan, rest]);
}

/** Returns a black PNG with one bit per pixel. */
export function blackPng(width: number, height: number, options: ZlibOptions = {}): Buffer {
  const header = pngHeader(width, height, { bitDepth: 1, isGrayscale: true });
  const bytesPerRow = 1 + Math.ceil(width / 8);
  const pixels = deflateSync(Buffer.alloc(bytesPerRow * height), options);
  return Buffer.concat([PNG_SIGNATURE, header, pngChunk('IDAT', pixels), pngChunk('IEND', '')]);
}

/** Inserts bytes before the last `count` bytes of an image. */
export const insertBeforeEnd = (image: Buffer, count: number, bytes: Buffer) =>
  Buffer.concat([image.subarray(0, -count), bytes, image.subarray(-count)]);

/** Returns the sample PNG with these chunks after its header. */
export const png = (...chunks: Buffer[]) =>
  Buffer.concat([samples.png.subarray(0, 33), ...chunks, samples.png.subarray(33)]);

export const gifExtension = (label: number, ...blocks: string[]) =>
  Buffer.concat([
    Buffer.from([0x21, label]),
    ...blocks.flatMap((block) => [Buffer.from([block.length]), latin1(block)]),
    Buffer.from([0]),
  ]);

/** Returns the sample GIF with these extensions before its image. */
export const gif = (...extensions: Buffer[]) =>
  Buffer.concat([samples.gif.subarray(0, 19), ...extensions, samples.gif.subarray(19)]);

export const webpChunk = (type: string, data: string | Buffer) => {
  const bytes = toBytes(data);
  return Buffer.concat([latin1(type), u32le(bytes.length), bytes, Buffer.alloc(bytes.length % 2)]);
};

export const riff = (...chunks: Buffer[]) => {
  const body = Buffer.concat([latin1('WEBP'), ...chunks]);
  return Buffer.concat([latin1('RIFF'), u32le(body.length), body]);
};

export const webpImage = samples.webp.subarray(12);

export const vp8x = (flags: number, width = 1, height = 1) =>
  webpChunk('VP8X', Buffer.concat([u32le(flags), u32le(width - 1).subarray(0, 3), u32le(height - 1).subarray(0, 3)]));

export const box = (type: string, ...parts: (string | Buffer)[]) => {
  const body = Buffer.concat(parts.map(toBytes));
  return Buffer.concat([u32(8 + body.length), latin1(type), body]);
};

export const fullBox = (type: string, version: number, ...parts: (string | Buffer)[]) =>
  box(type, Buffer.from([version, 0, 0, 0]), ...parts);

interface AvifItem {
  type: string;
  data: string | Buffer;
  /** The offset of the item in the file. Without it, `data` is added to the media data box. */
  at?: number;
}

/**
 * Returns an AVIF file of these items; the first is the picture. Adds the boxes of `properties` to the `ipco` box, those of
 * `inMeta` to the `meta` box, and those of `top`, then of `moov`, between the `meta` box and the media data.
 */
export function avif(
  items: AvifItem[],
  { properties = [] as Buffer[], inMeta = [] as Buffer[], top = [] as Buffer[], moov = [] as Buffer[] } = {},
): Buffer {
  const ftyp = box('ftyp', 'avif\0\0\0\0avifmif1');
  const entries = items.map(({ type }, index) => fullBox('infe', 2, u16(index + 1), u16(0), `${type}\0`));
  const build = (mediaOffset: number): Buffer => {
    let next = mediaOffset;
    const locations = items.map(({ data, at }, index) => {
      const location = Buffer.concat([u16(index + 1), u16(0), u16(1), u32(at ?? next), u32(data.length)]);
      next += at === undefined ? data.length : 0;
      return location;
    });
    return fullBox(
      'meta',
      0,
      fullBox('hdlr', 0, '\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0'),
      fullBox('pitm', 0, u16(1)),
      fullBox('iloc', 0, Buffer.from([0x44, 0]), u16(items.length), ...locations),
      fullBox('iinf', 0, u16(items.length), ...entries),
      box('iprp', box('ipco', fullBox('ispe', 0, u32(2), u32(2)), ...properties)),
      ...inMeta,
    );
  };
  const between = Buffer.concat([...top, ...moov]);
  // Built twice: the offsets in `meta` depend on its length, which does not depend on the offsets.
  const meta = build(ftyp.length + build(0).length + between.length + 8);
  const media = items.filter(({ at }) => at === undefined).map(({ data }) => data);
  return Buffer.concat([ftyp, meta, between, box('mdat', ...media)]);
}
