import { crc32 } from 'node:zlib';

/** The first bytes of every PNG. */
export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Returns the bytes of data; a text has one byte for each character. */
export const toBytes = (data: string | Buffer) => (typeof data === 'string' ? Buffer.from(data, 'latin1') : data);

/** Returns a chunk: the length of the data, the type, the data (a string in Latin-1), and a checksum. */
export function pngChunk(type: string, data: string | Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), toBytes(data)]);
  return Buffer.concat([u32(body.length - 4), body, u32(crc32(body))]);
}

/** Returns the header of an image without transparency or interlacing. The default is three color channels of 8 bits each. */
export const pngHeader = (width: number, height: number, { bitDepth = 8, isGrayscale = false } = {}) =>
  pngChunk('IHDR', Buffer.concat([u32(width), u32(height), Buffer.from([bitDepth, isGrayscale ? 0 : 2, 0, 0, 0])]));
