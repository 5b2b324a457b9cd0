import { UnreadableImageError } from './errors.js';
import type { Findings } from './findings.js';
import type { ImageFile } from './image-file.js';

/** The type of a box that contains free space. */
export const FREE = Buffer.from('free');

const MAX_DEPTH = 12;

/** The header of a box. Positions are offsets in the file, in bytes. */
export interface Box {
  type: string;
  /** The position of the header. */
  at: number;
  /** The position of the content, after the header. */
  dataAt: number;
  /** The position after the box. */
  end: number;
}

/** Reads the boxes of an ISO base media file (ISO/IEC 14496-12 section 4.2). */
export class BoxReader {
  constructor(
    readonly file: ImageFile,
    readonly findings: Findings,
  ) {}

  /** Reads the header of the box at `at`. The box must end at or before `parentEnd`. */
  async readBox(at: number, parentEnd: number): Promise<Box> {
    await this.findings.countElement();
    if (at + 8 > parentEnd) throw new UnreadableImageError('A box is truncated');
    const head = await this.file.read(at, 8);
    const type = head.toString('latin1', 4, 8);
    let size = head.readUInt32BE(0);
    let headerBytes = 8;
    if (size === 1) {
      size = toSafeInteger((await this.file.read(at, 16)).readBigUInt64BE(8));
      headerBytes = 16;
    } else if (size === 0) {
      size = parentEnd - at;
    }
    if (size < headerBytes || at + size > parentEnd) throw new UnreadableImageError('A box has an invalid length');
    return { type, at, dataAt: at + headerBytes, end: at + size };
  }

  /** Calls `visit` for each box between `start` and `end`, one after another. `depth` is their nesting depth. */
  async forEachBox(
    start: number,
    end: number,
    depth: number,
    visit: (box: Box) => Promise<void> | void,
  ): Promise<void> {
    if (depth > MAX_DEPTH) throw new UnreadableImageError('Boxes are nested too deeply');
    for (let at = start; at < end; ) {
      const box = await this.readBox(at, end);
      await visit(box);
      at = box.end;
    }
  }
}

/** Converts a 64-bit integer to a number. @throws UnreadableImageError if it is not a safe integer */
export function toSafeInteger(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new UnreadableImageError('A number is too large');
  return Number(value);
}
