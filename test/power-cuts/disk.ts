import { basename, dirname, join } from 'node:path';
import type { DiskOperation, Span } from './trace.js';

/*
 * A model of the possible disk contents after a power cut, given the operations before it.
 *
 * - The content of a file is durable up to the last completed `fsync` of that file. Each sector of 512 bytes that was changed
 *   later has any of the contents that it had since then, independently of other sectors. Sectors are never torn. The size of
 *   the file follows the kept changes: a file may be too short, or contain zeros where data is lost.
 * - The entries of a directory (creations, renames, removals) are changes to that directory. As in POSIX, only an `fsync` of
 *   the directory makes them durable. Later changes are kept or lost independently of each other, except that changes of the
 *   same name keep their order. A rename is atomic, and durable with either of its directories.
 *
 * This is stricter than journaling file systems, which keep the order of changes to directories. Not modeled: disks that lose
 * acknowledged flushes, bit rot, and file metadata (modes, times).
 */

export const SECTOR_BYTES = 512;

/** Written bytes, or a new length if `data` is undefined. */
interface ContentChange extends Span {
  offset: number;
  data?: Buffer;
}

/** A file or directory, independent of its names. */
interface Inode {
  /** The path at which it was created. */
  path: string;
  isDirectory: boolean;
  changes: ContentChange[];
  syncs: Span[];
}

/** Changes of names that happen atomically. An undefined inode removes a name. */
interface EntryChange extends Span {
  names: { directory: Inode; name: string; inode: Inode | undefined }[];
}

export interface History {
  root: Inode;
  entries: EntryChange[];
}

/**
 * Replays a trace into the history of each file and directory.
 *
 * @param root an existing, empty directory, which survives every power cut
 */
export function replay(operations: readonly DiskOperation[], root: string): History {
  const createInode = (path: string, isDirectory: boolean): Inode => ({ path, isDirectory, changes: [], syncs: [] });
  const rootInode = createInode(root, true);
  const tree = new Map<string, Inode>([[root, rootInode]]);
  const open = new Map<string, { inode: Inode; position: number }>();
  const entries: EntryChange[] = [];

  function find<Found>(map: Map<string, Found>, key: string): Found {
    const found = map.get(key);
    if (!found) throw new Error(`The trace is incomplete: ${key} was not created or opened`);
    return found;
  }
  const nameChange = (path: string, inode: Inode | undefined) => ({
    directory: find(tree, dirname(path)),
    name: basename(path),
    inode,
  });
  const create = ({ start, end }: Span, path: string, isDirectory: boolean): void => {
    const inode = createInode(path, isDirectory);
    entries.push({ start, end, names: [nameChange(path, inode)] });
    tree.set(path, inode);
  };
  const pathsBelow = (path: string) => [...tree.keys()].filter((other) => other.startsWith(`${path}/`));

  for (const operation of operations) {
    const { start, end } = operation;
    switch (operation.kind) {
      case 'open': {
        if (!tree.has(operation.path) && operation.create) create(operation, operation.path, false);
        const inode = find(tree, operation.path);
        if (operation.truncate && inode.changes.length > 0) inode.changes.push({ start, end, offset: 0 });
        open.set(operation.file, { inode, position: 0 });
        break;
      }
      case 'write': {
        const file = find(open, operation.file);
        const offset = operation.position ?? file.position;
        if (operation.position === null) file.position += operation.data.length;
        file.inode.changes.push({ start, end, offset, data: operation.data });
        break;
      }
      case 'truncate':
        find(open, operation.file).inode.changes.push({ start, end, offset: operation.length });
        break;
      case 'sync':
        find(open, operation.file).inode.syncs.push({ start, end });
        break;
      case 'make directory': {
        const missing: string[] = [];
        for (let path = operation.path; !tree.has(path); path = dirname(path)) missing.unshift(path);
        for (const path of missing) create(operation, path, true);
        break;
      }
      case 'rename': {
        const { from, to } = operation;
        entries.push({ start, end, names: [nameChange(from, undefined), nameChange(to, find(tree, from))] });
        const moved = [from, ...pathsBelow(from)].map((path) => [path, find(tree, path)] as const);
        for (const path of [to, ...pathsBelow(to), ...moved.map(([path]) => path)]) tree.delete(path);
        for (const [path, inode] of moved) tree.set(to + path.slice(from.length), inode);
        break;
      }
      case 'remove': {
        // Children before their parents. A forced removal may be of a missing path.
        const paths = tree.has(operation.path) ? [...pathsBelow(operation.path).sort().reverse(), operation.path] : [];
        for (const path of paths) {
          entries.push({ start, end, names: [nameChange(path, undefined)] });
          tree.delete(path);
        }
        break;
      }
    }
  }
  return { root: rootInode, entries };
}

export interface Cut {
  /** The time, by the clock of the trace. */
  at: number;
  /** The probabilities with which changes that are not durable are kept; content for each file or for each sector. */
  keep: { entries: number; content: number; contentUnit: 'file' | 'sector' };
  /** Returns true with this probability, at random but reproducibly. */
  chance(probability: number): boolean;
  /** Returns whether `fsync` calls of this file are respected. */
  respectsSyncs(inode: Inode): boolean;
}

/** Returns the files after this cut, by path below the root. A directory has no content and comes before its entries. */
export function crash({ root, entries }: History, cut: Cut): Map<string, Buffer | undefined> {
  const before = entries.filter(({ start }) => start <= cut.at);
  const directories = new Map<Inode, Map<string, Inode>>();
  const kept = keptEntries(before, cut);
  for (const { directory, name, inode } of before.filter((_, index) => kept[index]).flatMap(({ names }) => names)) {
    const children = directories.get(directory) ?? new Map<string, Inode>();
    directories.set(directory, children);
    if (inode) children.set(name, inode);
    else children.delete(name);
  }
  const contents = new Map<string, Buffer | undefined>();
  const add = (directory: Inode, path: string): void => {
    for (const [name, child] of directories.get(directory) ?? []) {
      const childPath = join(path, name);
      contents.set(childPath, child.isDirectory ? undefined : contentOf(child, cut));
      if (child.isDirectory) add(child, childPath);
    }
  };
  add(root, '');
  return contents;
}

/** Returns the start of the last `fsync` of a file or directory that was completed before the cut, or 0. */
const lastSyncOf = (inode: Inode, { at, respectsSyncs }: Cut): number =>
  Math.max(0, ...inode.syncs.filter(({ end }) => end <= at && respectsSyncs(inode)).map(({ start }) => start));

/** Returns whether each change is kept by this cut: because it is durable, by chance, or before a kept one of its name. */
function keptEntries(entries: readonly EntryChange[], cut: Cut): boolean[] {
  const kept = entries.map(
    ({ names, end }) =>
      names.some(({ directory }) => lastSyncOf(directory, cut) >= end) || cut.chance(cut.keep.entries),
  );
  const implied = new Map<Inode, Set<string>>();
  for (const [index, { names }] of [...entries.entries()].reverse()) {
    kept[index] ||= names.some(({ directory, name }) => implied.get(directory)?.has(name));
    if (!kept[index]) continue;
    for (const { directory, name } of names)
      implied.set(directory, (implied.get(directory) ?? new Set<string>()).add(name));
  }
  return kept;
}

/** Returns the content of a file after this cut. */
function contentOf(inode: Inode, cut: Cut): Buffer {
  const changes = inode.changes.filter(({ start }) => start <= cut.at);
  const synced = lastSyncOf(inode, cut);
  const firstVolatile = changes.findIndex(({ end }) => end > synced);
  const capacity = Math.max(0, ...changes.map(({ offset, data }) => offset + (data?.length ?? 0)));
  /** The file with all changes so far, and the file with the kept ones. */
  const [complete, kept] = [new Content(capacity), new Content(capacity)];
  const keepsFile = cut.chance(cut.keep.content);
  const keeps = cut.keep.contentUnit === 'file' ? () => keepsFile : () => cut.chance(cut.keep.content);
  for (const [index, { offset, data }] of changes.entries()) {
    const isDurable = firstVolatile < 0 || index < firstVolatile;
    if (!data) {
      complete.resize(offset);
      if (isDurable || keeps()) kept.resize(offset);
      continue;
    }
    const end = offset + data.length;
    complete.resize(Math.max(complete.size, end));
    complete.bytes.set(data, offset);
    for (let at = offset - (offset % SECTOR_BYTES); at < end; at += SECTOR_BYTES) {
      if (!isDurable && !keeps()) continue;
      kept.resize(Math.max(kept.size, end));
      // The file may be longer than the complete one if a truncation was lost.
      kept.bytes.set(complete.bytes.subarray(at, Math.min(at + SECTOR_BYTES, complete.size, kept.size)), at);
    }
  }
  return kept.bytes.subarray(0, kept.size);
}

/** The bytes of a file, of any size up to a fixed capacity. */
class Content {
  readonly bytes: Buffer;
  size = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.alloc(capacity);
  }

  resize(size: number): void {
    // Truncated bytes must not reappear when the file grows again.
    if (size < this.size) this.bytes.fill(0, size, this.size);
    this.size = size;
  }
}
