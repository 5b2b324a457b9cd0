import { crc32, deflateSync } from 'node:zlib';

type Color = readonly [red: number, green: number, blue: number];

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Bits per channel, color type RGB, and the only methods of compression, filtering and no interlacing. */
const RGB = Buffer.from([8, 2, 0, 0, 0]);

/** Draws a gradient from one color at the top to another at the bottom, as a PNG. */
export function gradient(width: number, height: number, top: Color, bottom: Color): Buffer {
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width);
  size.writeUInt32BE(height, 4);
  const rows = Array.from({ length: height }, (_, y) => {
    const color = top.map((from, channel) => Math.round(from + (((bottom[channel] ?? 0) - from) * y) / (height - 1)));
    // Each row begins with its filter: none.
    return Buffer.from([0, ...Array.from({ length: width }, () => color).flat()]);
  });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.concat([size, RGB])),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
