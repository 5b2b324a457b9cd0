import { Walk } from './edits.js';
import { UnreadableImageError } from './errors.js';

/** A box of an ISO base media file (ISO/IEC 14496-12 section 4.2). Positions are offsets in the file, in bytes. */
export interface Box {
  type: string;
  at: number;
  /** The position of the content, after the header. */
  dataAt: number;
  /** The position after the box. */
  end: number;
}

/** A walk through boxes. */
export class BoxWalk extends Walk {
  /** Reads the header of the box at `at`. Returns undefined if the box does not end at or before `parentEnd`. */
  readBox(at: number, parentEnd: number): Box | undefined {
    this.countElement();
    if (at + 8 > parentEnd) return undefined;
    const size = this.readInteger(at, 4);
    const headerBytes = size === 1 ? 16 : 8;
    const end = size === 0 ? parentEnd : at + (size === 1 ? this.readInteger(at + 8, 8) : size);
    if (end < at + headerBytes || end > parentEnd) return undefined;
    return { type: this.bytes.toString('latin1', at + 4, at + 8), at, dataAt: at + headerBytes, end };
  }

  /** Returns the boxes between two positions. Returns the children of containers in place of the containers. */
  readBoxes(start: number, end: number, containerTypes?: ReadonlySet<string>): Box[] {
    const boxes: Box[] = [];
    for (let at = start; at < end; ) {
      const box = this.readBox(at, end);
      if (!box) throw new UnreadableImageError('A box has an invalid length');
      const isContainer = containerTypes?.has(box.type);
      if (!isContainer) boxes.push(box);
      at = isContainer ? box.dataAt : box.end;
    }
    return boxes;
  }

  /** Reads an unsigned integer of 0 to 8 bytes. One above 2^53 is inexact, but no file is as large. */
  readInteger(at: number, length: number): number {
    if (length === 0) return 0;
    if (length <= 6) return this.bytes.readUIntBE(at, length);
    return this.bytes.readUInt32BE(at) * 2 ** 32 + this.bytes.readUInt32BE(at + 4);
  }
}
