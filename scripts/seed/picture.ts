import { deflateSync } from 'node:zlib';
import { PNG_SIGNATURE, pngChunk, pngHeader } from '../support/png.js';

export type Color = readonly [red: number, green: number, blue: number];

/** Draws a gradient from one color at the top to another at the bottom, as a PNG. */
export function gradient(width: number, height: number, top: Color, bottom: Color): Buffer {
  const rows = Array.from({ length: height }, (_, y) => {
    const color = top.map((from, channel) => Math.round(from + (((bottom[channel] ?? 0) - from) * y) / (height - 1)));
    // Each row begins with its filter type: none.
    return Buffer.from([0, ...Array.from({ length: width }, () => color).flat()]);
  });
  return Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(width, height),
    pngChunk('IDAT', deflateSync(Buffer.concat(rows))),
    pngChunk('IEND', ''),
  ]);
}
