import { type Box, type BoxReader, FREE, toSafeInteger } from './boxes.js';
import { UnreadableImageError } from './errors.js';
import { EMPTY_TIFF, reduceExif } from './exif.js';
import { NO_BYTES } from './findings.js';
import { type ImageFile, READ_BUFFER_BYTES } from './image-file.js';

/*
 * The items of a `meta` box (ISO/IEC 14496-12 section 8.11): the image, its metadata and its thumbnails.
 *
 *   iinf   has one `infe` box for each item, with the id and type of the item
 *   iloc   says where the contents of each item are: in one or more ranges of bytes, called extents
 *   idat   contains the contents that are stored in the `meta` box itself; others are in an `mdat` box
 *   iref   contains references between items, such as from a thumbnail to its image
 *
 * The construction method of an item says what its offsets refer to: 0 for the file, 1 for `idat`.
 */

/** The maximum number of metadata items, and of their extents. Real images have one or two. */
const MAX_METADATA_ITEMS = 64;

/** The types of metadata items: Exif, items with a media type (such as XMP), and items whose type is a URI. */
const metadataItemTypes = new Set(['Exif', 'mime', 'uri ']);

const THUMBNAIL = 'thmb';

/** A range of bytes in the file. */
export interface Range {
  at: number;
  length: number;
}

interface Extent extends Range {
  item: number;
}

/**
 * Overwrites the contents of metadata items and thumbnails, except the orientation in an Exif item. Does not remove bytes,
 * because other boxes refer to the bytes of the image by their offset.
 *
 * @param boxes the boxes in the `meta` box, by type
 * @param mediaData the ranges that may contain the contents of items, besides `idat`
 */
export async function blankItems(
  reader: BoxReader,
  boxes: ReadonlyMap<string, Box>,
  mediaData: readonly Range[],
): Promise<void> {
  const [iinf, iloc, idat, iref] = ['iinf', 'iloc', 'idat', 'iref'].map((type) => boxes.get(type));
  if (!iinf || !iloc) return;
  const thumbnails = iref ? await removeThumbnailReferences(reader, iref) : new Set<number>();
  const itemTypes = await collectItemsToBlank(reader, iinf, thumbnails);
  if (itemTypes.size === 0) return;
  const { file, findings } = reader;
  findings.hasMetadata = true;
  const blanked: Range[] = [];
  const allowedRanges = idat ? [...mediaData, dataRangeOf(idat)] : mediaData;
  for (const extent of await readExtents(reader, iloc, idat, (item) => itemTypes.has(item))) {
    if (extent.length === 0) throw new UnreadableImageError('An item extent is empty');
    if (!allowedRanges.some((range) => isWithin(extent, range))) {
      throw new UnreadableImageError('An item extent is outside the media data');
    }
    if (blanked.some((range) => overlaps(extent, range))) throw new UnreadableImageError('Two item extents overlap');
    blanked.push(extent);
    if (itemTypes.get(extent.item) === 'Exif') {
      // Only the first extent of an item contains the Exif header. The others are overwritten completely.
      itemTypes.set(extent.item, '');
      findings.overwrite(extent.at, extent.length, await reduceExifItem(file, extent));
    } else {
      findings.overwrite(extent.at, extent.length, NO_BYTES);
    }
  }
  // A second pass, because the extents of the image may be listed before those of its metadata.
  await readExtents(reader, iloc, idat, (item, extent) => {
    if (!itemTypes.has(item) && blanked.some((range) => overlaps(extent, range))) {
      throw new UnreadableImageError('The image and its metadata overlap');
    }
    return false;
  });
}

/** Returns the range of a box's content. */
export const dataRangeOf = ({ dataAt, end }: Box): Range => ({ at: dataAt, length: end - dataAt });
const isWithin = (inner: Range, outer: Range) =>
  inner.at >= outer.at && inner.at + inner.length <= outer.at + outer.length;
/**
 * Returns whether two ranges overlap. The length of `one` may be 0, which means that it extends to the end of the file or of
 * `idat`. Only its start is then checked.
 */
const overlaps = (one: Range, other: Range) =>
  one.at < other.at + other.length && other.at < one.at + Math.max(one.length, 1);

/** Turns each reference from a thumbnail to its image into a `free` box. Returns the item ids of the thumbnails. */
async function removeThumbnailReferences(reader: BoxReader, { dataAt, end }: Box): Promise<Set<number>> {
  const thumbnails = new Set<number>();
  const idBytes = (await reader.file.read(dataAt, 4))[0] === 0 ? 2 : 4;
  await reader.forEachBox(dataAt + 4, end, 1, async (reference) => {
    if (reference.type !== THUMBNAIL) return;
    thumbnails.add((await reader.file.read(reference.dataAt, idBytes)).readUIntBE(0, idBytes));
    reader.findings.overwrite(reference.at + 4, FREE.length, FREE);
  });
  return thumbnails;
}

/**
 * Returns the types of the items to blank, which are metadata items and thumbnails, by item id. Also changes the item type of
 * thumbnails to `free`. Thumbnails are removed because they may show areas that were cropped from the image.
 */
async function collectItemsToBlank(
  reader: BoxReader,
  { dataAt, end }: Box,
  thumbnails: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const items = new Map<number, string>();
  const countBytes = (await reader.file.read(dataAt, 4))[0] === 0 ? 2 : 4;
  await reader.forEachBox(dataAt + 4 + countBytes, end, 1, async (box) => {
    if (box.type !== 'infe') return;
    const version = (await reader.file.read(box.dataAt, 4))[0] as number;
    const idBytes = version < 3 ? 2 : 4;
    const entry = await reader.file.read(box.dataAt + 4, idBytes + (version < 2 ? 0 : 6));
    // Before version 2, an entry has a media type instead of an item type.
    const type = version < 2 ? 'mime' : entry.toString('latin1', idBytes + 2, idBytes + 6);
    const id = entry.readUIntBE(0, idBytes);
    if (metadataItemTypes.has(type)) items.set(id, type);
    else if (thumbnails.has(id)) {
      items.set(id, THUMBNAIL);
      reader.findings.overwrite(box.dataAt + 4 + idBytes + 2, FREE.length, FREE);
    }
    if (items.size > MAX_METADATA_ITEMS) throw new UnreadableImageError('There are too many metadata items');
  });
  return items;
}

/**
 * Calls `select` for each extent of an item location box. Returns the extents for which `select` returns true. Their
 * positions are offsets in the file.
 */
async function readExtents(
  { file, findings }: BoxReader,
  { dataAt, end }: Box,
  idat: Box | undefined,
  select: (item: number, extent: Extent) => boolean,
): Promise<Extent[]> {
  const selected: Extent[] = [];
  let at = dataAt;
  const read = async (bytes: number): Promise<number> => {
    if (bytes === 0) return 0;
    if (at + bytes > end) throw new UnreadableImageError('The item location box is truncated');
    const value = await file.read(at, bytes);
    at += bytes;
    return bytes === 8 ? toSafeInteger(value.readBigUInt64BE(0)) : value.readUIntBE(0, bytes);
  };
  const version = await read(1);
  await read(3);
  const sizes = await read(2);
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const;
  const indexBytes = version === 0 ? 0 : sizes & 15;
  if (version > 2 || [offsetBytes, lengthBytes, baseBytes, indexBytes].some((bytes) => ![0, 4, 8].includes(bytes))) {
    throw new UnreadableImageError('The item location box has an unknown layout');
  }
  for (let remainingItems = await read(version < 2 ? 2 : 4); remainingItems > 0; remainingItems--) {
    await findings.countElement();
    const item = await read(version < 2 ? 2 : 4);
    const constructionMethod = version === 0 ? 0 : (await read(2)) & 15;
    const dataReference = await read(2);
    const base = await read(baseBytes);
    for (let remainingExtents = await read(2); remainingExtents > 0; remainingExtents--) {
      await findings.countElement();
      await read(indexBytes);
      const offset = base + (await read(offsetBytes));
      const length = await read(lengthBytes);
      const extent = { item, at: constructionMethod === 1 ? (idat?.dataAt ?? 0) + offset : offset, length };
      if (!select(item, extent)) continue;
      if (constructionMethod > 1 || (constructionMethod === 1 && !idat) || dataReference !== 0) {
        throw new UnreadableImageError('An item uses an unsupported storage location');
      }
      selected.push(extent);
      if (selected.length > MAX_METADATA_ITEMS) throw new UnreadableImageError('The metadata has too many extents');
    }
  }
  return selected;
}

/**
 * Returns the replacement for an Exif item, in a form that readers accept: the offset of the TIFF header (ISO/IEC 23008-12
 * annex A), followed by a minimal TIFF. Returns no bytes if the extent is too short for that.
 */
async function reduceExifItem(file: ImageFile, { at, length }: Extent): Promise<Buffer> {
  if (length < 4 + EMPTY_TIFF.length) return NO_BYTES;
  const data = await file.read(at, Math.min(length, READ_BUFFER_BYTES));
  const start = 4 + data.readUInt32BE(0);
  const tiff = start < data.length ? reduceExif(data.subarray(start), data.length - start) : NO_BYTES;
  // If the TIFF is already reduced, only the bytes before its header are removed.
  if (tiff === undefined) return Buffer.concat([Buffer.alloc(4), data.subarray(start)]);
  return Buffer.concat([Buffer.alloc(4), tiff.length > 0 ? tiff : EMPTY_TIFF]);
}
