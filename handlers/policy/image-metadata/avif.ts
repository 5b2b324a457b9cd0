import { type Box, BoxWalk } from './boxes.js';
import { checkDimensions } from './dimensions.js';
import type { Edit } from './edits.js';
import { UnreadableImageError } from './errors.js';
import { EMPTY_TIFF, findTiff, reduceExif } from './exif.js';

/** The types of top-level boxes that the image needs. */
const keptTypes = new Set(['ftyp', 'styp', 'meta', 'mdat', 'moov', 'moof', 'mfra', 'sidx']);
/** The types of boxes that contain free space. */
const paddingTypes = new Set(['free', 'skip']);
/** The types of boxes that consist of other boxes. */
const containerTypes = new Set(['trak', 'edts', 'mdia', 'minf', 'dinf', 'stbl', 'mvex', 'traf', 'iprp', 'ipco']);
/**
 * The types of boxes that may contain metadata, at any level. The last ones are item properties with descriptions or times
 * (ISO/IEC 23008-12 section 6.5).
 */
const metadataTypes = new Set(['udta', 'uuid', 'xml ', 'bxml', 'free', 'skip', 'udes', 'altt', 'crtt', 'mdft']);
/** The types of headers that begin with times. */
const headerTypes = new Set(['mvhd', 'mdhd', 'tkhd']);
/** The handlers of image, video, auxiliary (alpha) and sound tracks, and of QuickTime data. Others have texts or locations. */
const keptHandlers = new Set(['pict', 'vide', 'auxv', 'soun', 'alis', 'url ']);
/** The types of metadata items: Exif, items with a media type (such as XMP), and items whose type is a URI. */
const metadataItemTypes = new Set(['Exif', 'mime', 'uri ']);

/** Bounds the time to compare the extents of metadata with `mdat` boxes. Real images have a few of each. */
const MAX_COMPARED = 64;

/**
 * Walks an AVIF, which has the ISO base media file format (ISO/IEC 14496-12). Boxes refer to bytes by their offset in the file.
 * Metadata is therefore overwritten in place, and removed only at the end of the file. The rotation is kept: it is not
 * metadata, but an item property.
 */
export function walkAvif(bytes: Buffer): Edit[] {
  const walk = new BoxWalk(bytes);
  const boxes = readTopLevel(walk);
  const mediaData = boxes.filter(({ type }) => type === 'mdat');
  // The bytes after this box are a trailer. They can be removed, because the image does not refer to them.
  const lastKept = boxes.findLast(({ type }) => keptTypes.has(type) || paddingTypes.has(type)) as Box;
  for (const box of boxes) {
    if (box.at > lastKept.at) break;
    if (box.type === 'meta') cleanMeta(walk, box, mediaData);
    else if (box.type === 'moov' || box.type === 'moof') cleanMovie(walk, box, mediaData);
    else if (!keptTypes.has(box.type)) blankBox(walk, box);
  }
  walk.removeStrayBytes(lastKept.end, bytes.length);
  return walk.edits;
}

/** Returns the top-level boxes of the image. Another file, or an invalid box after the image, is a trailer. */
function readTopLevel(walk: BoxWalk): Box[] {
  const size = walk.bytes.length;
  const boxes: Box[] = [];
  for (let at = 0; at < size; ) {
    const box = walk.readBox(at, size);
    if (!box || (box.type === 'ftyp' && at > 0)) break;
    boxes.push(box);
    at = box.end;
  }
  const has = (wanted: string) => boxes.some(({ type }) => type === wanted);
  const isWhole = has('mdat') || boxes.at(-1)?.end === size;
  if (!isWhole || !(has('meta') || has('moov'))) throw new UnreadableImageError('There is no image');
  return boxes;
}

/** Converts a box to free space of the same length. */
function blankBox(walk: BoxWalk, { at, dataAt, end }: Box): void {
  walk.overwrite(at + 4, at + 8, 'free');
  walk.overwrite(dataAt, end);
}

/** Cleans a `moov` or `moof` box, which describes a sequence of images. */
function cleanMovie(walk: BoxWalk, movie: Box, mediaData: readonly Box[]): void {
  const { bytes } = walk;
  const ascii = (at: number) => bytes.toString('latin1', at, at + 4);
  for (const box of walk.readBoxes(movie.dataAt, movie.end, containerTypes)) {
    const { type, dataAt, end } = box;
    const isUnknownTrack = type === 'hdlr' && !keptHandlers.has(ascii(dataAt + 8));
    if (isUnknownTrack) throw new UnreadableImageError('There is a track of an unknown type', true);
    if (headerTypes.has(type)) {
      const [timesEnd, sizeAt] = bytes[dataAt] === 1 ? [dataAt + 20, dataAt + 88] : [dataAt + 12, dataAt + 76];
      if (end < (type === 'tkhd' ? sizeAt + 8 : timesEnd))
        throw new UnreadableImageError('A header is truncated', true);
      walk.overwrite(dataAt + 4, timesEnd);
      if (type === 'tkhd') checkDimensions(bytes.readUInt16BE(sizeAt), bytes.readUInt16BE(sizeAt + 4));
    }
    // A `meta` box without items has text.
    const hasItems = type === 'meta' && ascii(dataAt + 8) === 'hdlr' && ascii(dataAt + 20) === 'pict';
    if (hasItems) cleanMeta(walk, box, mediaData);
    else if (type === 'meta' || metadataTypes.has(type)) blankBox(walk, box);
  }
}

/**
 * Cleans a `meta` box (ISO/IEC 14496-12 section 8.11). It describes items: the image, its metadata and its thumbnails.
 *
 *   iinf   has one `infe` box for each item, with the id and type of the item
 *   iloc   says where the contents of each item are: in one or more ranges of bytes, called extents
 *   idat   contains the contents that are stored in the `meta` box itself; others are in an `mdat` box
 *   iref   contains references between items, such as from a thumbnail to its image
 *
 * The contents of metadata and thumbnails are overwritten. A thumbnail may show an area that was cropped from the image.
 */
function cleanMeta(walk: BoxWalk, meta: Box, mediaData: readonly Box[]): void {
  const { bytes } = walk;
  const boxes = walk.readBoxes(meta.dataAt + 4, meta.end, containerTypes);
  for (const box of boxes) {
    if (metadataTypes.has(box.type)) blankBox(walk, box);
    if (box.type !== 'ispe') continue;
    checkDimensions(bytes.readUInt32BE(box.dataAt + 4), bytes.readUInt32BE(box.dataAt + 8));
  }
  const [iinf, iloc, idat, iref] = ['iinf', 'iloc', 'idat', 'iref'].map((type) =>
    boxes.find((box) => box.type === type),
  );
  if (!iinf || !iloc) return;
  const itemTypes = readMetadataItems(walk, iinf);
  for (const { type, at, dataAt } of iref ? walk.readBoxes(iref.dataAt + 4, iref.end) : []) {
    if (type !== 'thmb') continue;
    walk.overwrite(at + 4, at + 8, 'free');
    itemTypes.set(bytes.readUIntBE(dataAt, bytes[(iref as Box).dataAt] === 0 ? 2 : 4), type);
  }
  if (itemTypes.size === 0) return;
  const extents = readExtents(walk, iloc, idat);
  const metadata = extents.filter(({ item }) => itemTypes.has(item));
  const contents = idat ? [...mediaData, idat] : mediaData;
  if (Math.max(metadata.length, contents.length) > MAX_COMPARED) {
    throw new UnreadableImageError('There are too many extents', true);
  }
  for (const extent of metadata) {
    const { item, start, end } = extent;
    const isContent = start < end && contents.some((box) => start >= box.dataAt && end <= box.end);
    const isShared = extents.some(
      (other) => other !== extent && other.start < end && start < Math.max(other.end, other.start + 1),
    );
    if (!isContent || isShared) throw new UnreadableImageError('Metadata is not in a place of its own', true);
    walk.overwrite(start, end, itemTypes.get(item) === 'Exif' ? reduceExifItem(bytes, start, end) : undefined);
    // Only the first extent of an item contains the Exif header. The others are overwritten completely.
    itemTypes.set(item, '');
  }
}

/** Returns the types of metadata items by their ids. */
function readMetadataItems(walk: BoxWalk, { dataAt, end }: Box): Map<number, string> {
  const { bytes } = walk;
  const items = new Map<number, string>();
  for (const entry of walk.readBoxes(dataAt + (bytes[dataAt] === 0 ? 6 : 8), end)) {
    const version = bytes.readUInt8(entry.dataAt);
    const idBytes = version < 3 ? 2 : 4;
    const typeAt = entry.dataAt + 4 + idBytes + 2;
    // Before version 2, an entry has a media type instead of an item type.
    const type = version < 2 ? 'mime' : bytes.toString('latin1', typeAt, typeAt + 4);
    if (metadataItemTypes.has(type)) items.set(bytes.readUIntBE(entry.dataAt + 4, idBytes), type);
  }
  return items;
}

/** A part of an item in the file. If it is empty, it extends to an unknown end, or is in another file. */
interface Extent {
  item: number;
  start: number;
  end: number;
}

/** Returns the extents that an item location box lists. */
function readExtents(walk: BoxWalk, { dataAt, end }: Box, idat: Box | undefined): Extent[] {
  const extents: Extent[] = [];
  let at = dataAt;
  const read = (length: number): number => {
    if (at + length > end) throw new UnreadableImageError('The item location box is truncated');
    at += length;
    return walk.readInteger(at - length, length);
  };
  const version = read(1);
  read(3);
  const sizes = read(2);
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const;
  const indexBytes = version === 0 ? 0 : sizes & 15;
  if (version > 2 || [offsetBytes, lengthBytes, baseBytes, indexBytes].some((length) => ![0, 4, 8].includes(length))) {
    throw new UnreadableImageError('The item location box has an unknown layout');
  }
  for (let items = read(version < 2 ? 2 : 4); items > 0; items--) {
    walk.countElement();
    const item = read(version < 2 ? 2 : 4);
    // The construction method says what the offsets refer to: 0 for the file, 1 for `idat`.
    const method = version === 0 ? 0 : read(2) & 15;
    const isLocal = read(2) === 0 && (method === 0 || (method === 1 && idat !== undefined));
    const base = read(baseBytes) + (method === 1 && idat ? idat.dataAt : 0);
    for (let count = read(2); count > 0; count--) {
      walk.countElement();
      read(indexBytes);
      const start = base + read(offsetBytes);
      const length = read(lengthBytes);
      extents.push(isLocal ? { item, start, end: start + length } : { item, start: 0, end: 0 });
    }
  }
  return extents;
}

/**
 * Returns the replacement for an Exif item, in a form that readers accept: the offset of the TIFF header (ISO/IEC 23008-12
 * annex A), followed by a minimal TIFF. Returns nothing if the extent is too short for that.
 */
function reduceExifItem(bytes: Buffer, start: number, end: number): Buffer | undefined {
  if (end - start < 4 + EMPTY_TIFF.length) return undefined;
  const tiffAt = findTiff(bytes, start + 4 + bytes.readUInt32BE(start), end) ?? end;
  const tiff = reduceExif(bytes, tiffAt, end);
  // If the TIFF is already reduced, only the bytes before its header are removed.
  if (tiff === undefined) return Buffer.concat([Buffer.alloc(4), bytes.subarray(tiffAt, end)]);
  return Buffer.concat([Buffer.alloc(4), tiff.length > 0 ? tiff : EMPTY_TIFF]);
}
