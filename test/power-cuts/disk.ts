import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { DiskOperation, Span } from './trace.js';

/*
 * A model of the possible disk contents after a power cut, given the operations before it.
 *
 * - The content of a file is durable up to the last completed `fsync` of that file. Each sector of 512 bytes that was changed
 *   later has any of the contents that it had since then, independently of other sectors. Sectors are never torn.
 * - The size of a file follows the kept changes: a file may be too short, or contain zeros where data is lost.
 * - The entries of a directory (creations, renames, removals) are changes to that directory. As in POSIX, only an `fsync` of
 *   the directory makes them durable. Later changes are kept or lost independently of each other, except that changes of the
 *   same name keep their order. A rename is atomic, as it is on journaling file systems, and durable with either of its
 *   directories.
 *
 * Stricter than real disks: writes minutes apart may be reordered, although systems write back after about 30 seconds, and
 * journaling file systems (ext4, XFS, Btrfs) keep the order of changes to directories.
 * Not modeled: disks that lose acknowledged flushes, bit rot, sectors with garbage, and file metadata (modes, times).
 */

export const SECTOR_BYTES = 512;

/** Written bytes, or a new length if `data` is undefined. */
interface ContentChange extends Span {
  offset: number;
  data: Buffer | undefined;
}

/** A file or directory, independent of its names. */
interface Inode {
  /** The path at which it was created. */
  path: string;
  isDirectory: boolean;
  changes: ContentChange[];
  syncs: Span[];
}

interface NameChange {
  directory: Inode;
  name: string;
  /** The file or directory that has the name after the change, or undefined if the name is removed. */
  inode: Inode | undefined;
}

/** Name changes that happen atomically. */
interface EntryChange extends Span {
  description: string;
  names: NameChange[];
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
  const sizes = new Map<Inode, number>();
  const entries: EntryChange[] = [];

  const inodeAt = (path: string): Inode => {
    const inode = tree.get(path);
    if (!inode) throw new Error(`The trace is incomplete: ${path} was not created`);
    return inode;
  };
  const fileOf = (file: string) => {
    const found = open.get(file);
    if (!found) throw new Error(`The trace is incomplete: ${file} was not opened`);
    return found;
  };
  const nameChange = (path: string, inode: Inode | undefined): NameChange => ({
    directory: inodeAt(dirname(path)),
    name: basename(path),
    inode,
  });
  const changeEntries = ({ start, end }: DiskOperation, description: string, names: NameChange[]) =>
    entries.push({ start, end, description, names });
  const create = (operation: DiskOperation, path: string, isDirectory: boolean): void => {
    const inode = createInode(path, isDirectory);
    changeEntries(operation, `create ${path}`, [nameChange(path, inode)]);
    tree.set(path, inode);
  };
  const truncate = ({ start, end }: DiskOperation, inode: Inode, length: number): void => {
    inode.changes.push({ start, end, offset: length, data: undefined });
    sizes.set(inode, length);
  };
  const pathsBelow = (path: string) => [...tree.keys()].filter((other) => other.startsWith(`${path}/`));

  for (const operation of operations) {
    switch (operation.kind) {
      case 'open': {
        const { path } = operation;
        if (!tree.has(path) && operation.create) create(operation, path, false);
        const inode = inodeAt(path);
        if (operation.truncate && sizes.get(inode)) truncate(operation, inode, 0);
        open.set(operation.file, { inode, position: 0 });
        break;
      }
      case 'write': {
        const { start, end, data } = operation;
        const file = fileOf(operation.file);
        const offset = operation.position ?? file.position;
        if (operation.position === null) file.position += data.length;
        file.inode.changes.push({ start, end, offset, data });
        sizes.set(file.inode, Math.max(sizes.get(file.inode) ?? 0, offset + data.length));
        break;
      }
      case 'truncate':
        truncate(operation, fileOf(operation.file).inode, operation.length);
        break;
      case 'truncate path':
        truncate(operation, inodeAt(operation.path), operation.length);
        break;
      case 'sync':
        fileOf(operation.file).inode.syncs.push({ start: operation.start, end: operation.end });
        break;
      case 'make directory': {
        const missing: string[] = [];
        for (let path = operation.path; !tree.has(path); path = dirname(path)) missing.unshift(path);
        for (const path of missing) create(operation, path, true);
        break;
      }
      case 'rename': {
        const { from, to } = operation;
        const inode = inodeAt(from);
        changeEntries(operation, `rename ${from} to ${to}`, [nameChange(from, undefined), nameChange(to, inode)]);
        const moved = [from, ...pathsBelow(from)].map((path) => [path, tree.get(path)] as const);
        for (const path of [to, ...pathsBelow(to)]) tree.delete(path);
        for (const [path, inode] of moved) {
          tree.delete(path);
          if (inode) tree.set(to + path.slice(from.length), inode);
        }
        break;
      }
      case 'remove': {
        // Children before their parents. A forced removal may be of a missing path.
        const paths = tree.has(operation.path) ? [...pathsBelow(operation.path).sort().reverse(), operation.path] : [];
        for (const path of paths) {
          changeEntries(operation, `remove ${path}`, [nameChange(path, undefined)]);
          tree.delete(path);
        }
        break;
      }
    }
  }
  return { root: rootInode, entries };
}

/** The probabilities with which a power cut keeps the changes that are not durable. */
export interface KeepProbabilities {
  entries: number;
  content: number;
  /** Whether content is kept or lost for each file, each change, or each sector of a change. */
  contentUnit: 'file' | 'change' | 'sector';
}

export interface Cut {
  /** The time, by the clock of the trace. */
  at: number;
  keep: KeepProbabilities;
  /** Returns true with this probability, at random but reproducibly. */
  chance(probability: number): boolean;
  /** Returns whether `fsync` calls of this file are respected. */
  respectsSyncs(inode: Inode): boolean;
}

/** The contents of a directory: files as bytes, directories as maps. */
type DiskContents = Map<string, DiskContents | Buffer>;

interface CrashState {
  contents: DiskContents;
  /** Changes of directories that the cut lost. */
  lostEntries: string[];
  /** Files that lack changes, by their original paths. */
  staleFiles: string[];
}

/** Writes the contents into a directory, which is created if missing. */
export async function writeContents(contents: DiskContents, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, child] of contents) {
    const path = join(directory, name);
    if (Buffer.isBuffer(child)) await writeFile(path, child);
    else await writeContents(child, path);
  }
}

/** Returns the disk contents after this cut. */
export function crash({ root, entries }: History, cut: Cut): CrashState {
  const before = entries.filter(({ start }) => start <= cut.at);
  const kept = keptEntries(before, cut);
  const directories = new Map<Inode, Map<string, Inode>>();
  for (const [index, { names }] of before.entries()) {
    if (!kept[index]) continue;
    for (const { directory, name, inode } of names) {
      const children = directories.get(directory) ?? new Map<string, Inode>();
      directories.set(directory, children);
      if (inode) children.set(name, inode);
      else children.delete(name);
    }
  }
  const state: CrashState = {
    contents: new Map(),
    lostEntries: before.filter((_, index) => !kept[index]).map(({ description }) => description),
    staleFiles: [],
  };
  const build = (inode: Inode): DiskContents => {
    const contents: DiskContents = new Map();
    for (const [name, child] of directories.get(inode) ?? [])
      contents.set(name, child.isDirectory ? build(child) : contentOf(child, cut, state));
    return contents;
  };
  state.contents = build(root);
  return state;
}

/** Returns the start of the last `fsync` of a file or directory that was completed before the cut, or 0. */
const lastSyncOf = (inode: Inode, { at, respectsSyncs }: Cut): number =>
  Math.max(0, ...inode.syncs.filter(({ end }) => end <= at && respectsSyncs(inode)).map(({ start }) => start));

/** Returns whether each change is kept by this cut: because it is durable, or by chance. */
function keptEntries(entries: readonly EntryChange[], cut: Cut): boolean[] {
  const kept = entries.map(
    ({ names, end }) =>
      names.some(({ directory }) => lastSyncOf(directory, cut) >= end) || cut.chance(cut.keep.entries),
  );
  // A kept change implies all earlier changes of the same name.
  const implied = new Map<Inode, Set<string>>();
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const { names } = entries[index] as EntryChange;
    kept[index] ||= names.some(({ directory, name }) => implied.get(directory)?.has(name));
    if (!kept[index]) continue;
    for (const { directory, name } of names) {
      const impliedNames = implied.get(directory) ?? new Set<string>();
      implied.set(directory, impliedNames.add(name));
    }
  }
  return kept;
}

/** Returns the content of a file after this cut, and adds the file to those of `state` if it lacks changes. */
function contentOf(inode: Inode, cut: Cut, state: CrashState): Buffer {
  const changes = inode.changes.filter(({ start }) => start <= cut.at);
  const synced = lastSyncOf(inode, cut);
  const firstVolatile = changes.findIndex(({ end }) => end > synced);
  const durableCount = firstVolatile < 0 ? changes.length : firstVolatile;
  const complete = new Content(Math.max(0, ...inode.changes.map(({ offset, data }) => offset + (data?.length ?? 0))));
  for (const change of changes.slice(0, durableCount)) complete.apply(change);
  const afterCut = complete.copy();
  const { content: probability, contentUnit } = cut.keep;
  const keepsUnit = () => cut.chance(probability);
  const keepsFile = keepsUnit();
  for (const change of changes.slice(durableCount)) {
    complete.apply(change);
    const keepsChange = contentUnit === 'change' ? keepsUnit() : keepsFile;
    afterCut.take(change, complete, contentUnit === 'sector' ? keepsUnit : () => keepsChange);
  }
  if (!afterCut.bytes().equals(complete.bytes())) state.staleFiles.push(inode.path);
  return afterCut.bytes();
}

/** The bytes of a file, of any size up to a fixed capacity. */
class Content {
  #bytes: Buffer;
  #size = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.alloc(capacity);
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  copy(): Content {
    const copy = new Content(this.#bytes.length);
    copy.#bytes.set(this.bytes());
    copy.#size = this.#size;
    return copy;
  }

  apply({ offset, data }: ContentChange): void {
    this.#resize(data ? Math.max(this.#size, offset + data.length) : offset);
    if (data) this.#bytes.set(data, offset);
  }

  /**
   * Applies those sectors of a change for which `keep` returns true. Takes their bytes from `source`, to which the whole change
   * was applied. The size changes if any are kept.
   */
  take({ offset, data }: ContentChange, source: Content, keep: () => boolean): void {
    if (!data) {
      if (keep()) this.#resize(offset);
      return;
    }
    const end = offset + data.length;
    for (let at = offset - (offset % SECTOR_BYTES); at < end; at += SECTOR_BYTES) {
      if (!keep()) continue;
      this.#resize(Math.max(this.#size, end));
      // The file may be longer than `source` if a truncation was lost.
      this.#bytes.set(source.bytes().subarray(at, Math.min(at + SECTOR_BYTES, this.#size)), at);
    }
  }

  #resize(size: number): void {
    // Truncated bytes must not reappear when the file grows again.
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }
}
