import { blankItems, dataRangeOf, type Range } from './avif-items.js';
import { type Box, BoxReader, FREE } from './boxes.js';
import { UnreadableImageError } from './errors.js';
import { type Findings, NO_BYTES } from './findings.js';
import type { ImageFile } from './image-file.js';
import { removeTrailer } from './trailer.js';

/** The types of top-level boxes that the image needs. */
const keptTypes = new Set(['ftyp', 'styp', 'meta', 'mdat', 'moov', 'moof', 'mfra', 'sidx']);
/** The types of boxes that consist of other boxes. */
const containerTypes = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'dinf', 'stbl', 'mvex', 'moof', 'traf']);
/** The types of boxes that contain free space. */
const paddingTypes = new Set(['free', 'skip']);

/** The types of boxes that may contain metadata, at any level. */
const metadataBoxTypes = new Set(['udta', 'uuid', 'xml ', 'bxml', ...paddingTypes]);
/** The types of item properties that contain descriptions or times (ISO/IEC 23008-12 section 6.5). */
const metadataProperties = new Set(['udes', 'altt', 'crtt', 'mdft', ...metadataBoxTypes]);

/** The handlers of image, video, auxiliary (alpha) and sound tracks. Other tracks may contain text or locations. */
const keptHandlers = new Set(['pict', 'vide', 'auxv', 'soun']);

const MAX_TOP_LEVEL_BOXES = 64;

/**
 * Walks an AVIF, which has the ISO base media file format. Boxes refer to bytes by their offset in the file. Metadata is
 * therefore overwritten in place, and removed only at the end of the file. The rotation is kept: it is not metadata, but an
 * item property.
 */
export async function walkAvif(file: ImageFile, findings: Findings): Promise<void> {
  const topLevel = await readTopLevel(new BoxReader(file, findings));
  const walk = new AvifWalk(file, findings, topLevel.filter(({ type }) => type === 'mdat').map(dataRangeOf));
  // The bytes after this box are a trailer. They can be removed, because the image does not refer to them.
  const lastKept = topLevel.findLast(({ type }) => keptTypes.has(type) || paddingTypes.has(type)) as Box;
  for (const box of topLevel.filter(({ at }) => at <= lastKept.at)) {
    if (box.type === 'meta') await walk.walkMeta(box, 0);
    else if (containerTypes.has(box.type)) await walk.walkContainer(box, 0);
    else if (!keptTypes.has(box.type)) walk.blankBox(box);
  }
  await removeTrailer(file, lastKept.end, findings);
}

/**
 * Returns the top-level boxes of the image. Stops at the start of another file, and, after a complete image, at an invalid
 * box.
 */
async function readTopLevel(reader: BoxReader): Promise<Box[]> {
  const boxes: Box[] = [];
  const has = (type: string) => boxes.some((box) => box.type === type);
  for (let at = 0; at < reader.file.size; ) {
    const isComplete = has('mdat') && (has('meta') || has('moov'));
    let box: Box;
    try {
      box = await reader.readBox(at, reader.file.size);
    } catch (error) {
      if (error instanceof UnreadableImageError && isComplete) break;
      throw error;
    }
    if (box.type === 'ftyp' && at > 0) break;
    boxes.push(box);
    if (boxes.length > MAX_TOP_LEVEL_BOXES) throw new UnreadableImageError('There are too many boxes');
    at = box.end;
  }
  if (!has('meta') && !has('moov')) throw new UnreadableImageError('There is no image');
  return boxes;
}

/** Walks the boxes of an AVIF. `mediaData` has the ranges of all `mdat` boxes. */
class AvifWalk extends BoxReader {
  constructor(
    file: ImageFile,
    findings: Findings,
    readonly mediaData: readonly Range[],
  ) {
    super(file, findings);
  }

  /** Converts a box to free space of the same length. */
  blankBox(box: Box): void {
    if (!paddingTypes.has(box.type)) {
      this.findings.hasMetadata = true;
      this.findings.overwrite(box.at + 4, FREE.length, FREE);
    }
    this.findings.overwrite(box.dataAt, box.end - box.dataAt, NO_BYTES);
  }

  async walkContainer(box: Box, depth: number): Promise<void> {
    await this.forEachBox(box.dataAt, box.end, depth, async (child) => {
      if (containerTypes.has(child.type)) await this.walkContainer(child, depth + 1);
      else if (metadataBoxTypes.has(child.type)) this.blankBox(child);
      else if (child.type === 'meta') await this.walkInnerMeta(child, depth + 1);
      else if (child.type === 'mvhd' || child.type === 'mdhd') await this.blankTimes(child);
      else if (child.type === 'tkhd') await this.cleanTrackHeader(child);
      else if (child.type === 'hdlr') await this.checkHandler(child);
    });
  }

  async walkMeta(box: Box, depth: number): Promise<void> {
    const children = new Map<string, Box>();
    await this.forEachBox(box.dataAt + 4, box.end, depth, async (child) => {
      children.set(child.type, child);
      if (child.type === 'iprp') await this.walkProperties(child, depth + 1);
      else if (metadataBoxTypes.has(child.type)) this.blankBox(child);
    });
    await blankItems(this, children, this.mediaData);
  }

  /**
   * Walks a `meta` box in a container if it has a picture handler, because it then contains items. Others contain text, and
   * are blanked.
   */
  private async walkInnerMeta(box: Box, depth: number): Promise<void> {
    const isLongEnough = box.end - box.dataAt >= 24;
    const start = isLongEnough ? (await this.file.read(box.dataAt, 24)).toString('latin1') : '';
    if (start.slice(8, 12) === 'hdlr' && start.slice(20, 24) === 'pict') await this.walkMeta(box, depth);
    else this.blankBox(box);
  }

  private async walkProperties({ dataAt, end }: Box, depth: number): Promise<void> {
    await this.forEachBox(dataAt, end, depth, async (child) => {
      if (child.type !== 'ipco') return;
      await this.forEachBox(child.dataAt, child.end, depth + 1, async (property) => {
        if (metadataProperties.has(property.type)) this.blankBox(property);
        if (property.type !== 'ispe') return;
        const data = await this.file.read(property.dataAt, 12);
        this.findings.checkDimensions(data.readUInt32BE(4), data.readUInt32BE(8));
      });
    });
  }

  /** Clears the creation and modification times in a header. They follow the version and flags, and are longer in version 1. */
  private async blankTimes({ dataAt, end }: Box): Promise<void> {
    const length = (await this.file.read(dataAt, 4))[0] === 1 ? 16 : 8;
    if (dataAt + 4 + length > end) throw new UnreadableImageError('A header is truncated');
    const times = await this.file.read(dataAt + 4, length);
    this.findings.hasMetadata ||= times.some((byte) => byte !== 0);
    this.findings.overwrite(dataAt + 4, length, NO_BYTES);
  }

  private async cleanTrackHeader(box: Box): Promise<void> {
    await this.blankTimes(box);
    if (box.end - box.dataAt < 84) throw new UnreadableImageError('A track header is truncated');
    const dimensions = await this.file.read(box.end - 8, 8);
    this.findings.checkDimensions(dimensions.readUInt16BE(0), dimensions.readUInt16BE(4));
  }

  /** Throws UnreadableImageError if a track has an unknown type, because it may contain metadata in any form. */
  private async checkHandler({ dataAt }: Box): Promise<void> {
    const handler = (await this.file.read(dataAt, 12)).toString('latin1', 8, 12);
    // `alis` and `url ` are QuickTime data handlers.
    if (keptHandlers.has(handler) || handler === 'alis' || handler === 'url ') return;
    this.findings.hasMetadata = true;
    throw new UnreadableImageError('There is a track of an unknown type');
  }
}
