import { fsyncSync } from 'node:fs';
import { dirname } from 'node:path';
import { MemoryFS, type PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncPath } from '../../support/durable-files.js';

/*
 * PGlite's file system on the disk, with the durability that Emscripten's file system NODEFS lacks.
 *
 * - NODEFS does not implement `fsync`, so PostgreSQL's syncs would have no effect. `DurableNodeFS` implements it.
 * - PostgreSQL does not sync every directory that it changes. A new file could be lost in a power cut although its content
 *   was synced. So `DurableNodeFS` records each directory in which a file was created, renamed or removed, and every
 *   `fsync` of a file first syncs the recorded directories.
 */

/** A file or directory of Emscripten's NODEFS, for which PGlite has no types. */
interface EmscriptenNode {
  mode: number;
}

/** The properties of NODEFS that are used here. */
interface NodeFileSystem {
  realPath(node: EmscriptenNode): string;
  /** Converts Node's errors to Emscripten's. */
  tryFSOperation(operation: () => void): void;
  node_ops: {
    mknod(parent: EmscriptenNode, ...rest: unknown[]): EmscriptenNode;
    rename(node: EmscriptenNode, parent: EmscriptenNode, name: string): void;
    unlink(parent: EmscriptenNode, name: string): void;
    rmdir(parent: EmscriptenNode, name: string): void;
  };
  stream_ops: { fsync?(stream: { nfd: number }): number };
}

type InitOptions = Parameters<NodeFS['init']>[1];

/**
 * The `fs` option of PGlite. It is a `MemoryFS` only by its type: PGlite creates the files of a new database in memory and then
 * copies them, which takes 200 MB more, unless its file system is a `MemoryFS`.
 */
export class DurableNodeFS extends MemoryFS {
  readonly #files: NodeFS;

  constructor(directory: string) {
    super();
    this.#files = new NodeFS(directory);
  }

  override async init(pg: PGlite, options: InitOptions) {
    this.pg = pg;
    const addFsync = ({ NODEFS }: { NODEFS: NodeFileSystem }) => makeDurable(NODEFS);
    return this.#files.init(pg, { ...options, preRun: [...(options.preRun ?? []), addFsync as never] });
  }
}

/** Adds `fsync` to NODEFS, and the recording of changed directories. */
function makeDurable({ node_ops, stream_ops, realPath, tryFSOperation }: NodeFileSystem): void {
  const changedDirectories = new Set<string>();
  const { mknod, rename, unlink, rmdir } = node_ops;

  node_ops.mknod = (parent, ...rest) => {
    changedDirectories.add(realPath(parent));
    return mknod(parent, ...rest);
  };
  node_ops.rename = (node, parent, name) => {
    changedDirectories.add(dirname(realPath(node))).add(realPath(parent));
    rename(node, parent, name);
  };
  node_ops.unlink = (parent, name) => {
    changedDirectories.add(realPath(parent));
    unlink(parent, name);
  };
  node_ops.rmdir = (parent, name) => {
    changedDirectories.add(realPath(parent));
    rmdir(parent, name);
  };
  stream_ops.fsync = ({ nfd }) => {
    tryFSOperation(() => {
      for (const directory of changedDirectories) syncIfPresent(directory);
      changedDirectories.clear();
      fsyncSync(nfd);
    });
    return 0;
  };
}

/** Syncs a directory, if it exists. If it was removed, its parent directory was recorded. */
function syncIfPresent(directory: string): void {
  try {
    syncPath(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
