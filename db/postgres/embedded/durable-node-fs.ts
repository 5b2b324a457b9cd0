import { fsyncSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { syncPath } from '../../support/durable-files.js';

/** What is used of Emscripten's file system over Node's `fs`, of which PGlite declares nothing. */
interface EmscriptenNode {
  mode: number;
}

interface NodeFileSystem {
  realPath(node: EmscriptenNode): string;
  /** Turns Node's errors into Emscripten's. */
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
 * PGlite's files on the disk, with the `fsync` that Emscripten's file system lacks. PostgreSQL syncs what it writes, but not
 * every directory in which it creates a file: each `fsync` here first syncs the directories that have changed since the last.
 */
export class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: InitOptions) {
    const addFsync = ({ NODEFS }: { NODEFS: NodeFileSystem }) => makeDurable(NODEFS);
    return super.init(pg, { ...options, preRun: [...(options.preRun ?? []), addFsync as never] });
  }
}

function makeDurable({ node_ops, stream_ops, realPath, tryFSOperation }: NodeFileSystem): void {
  const changed = new Set<string>();
  const { mknod, rename, unlink, rmdir } = node_ops;

  node_ops.mknod = (parent, ...rest) => {
    changed.add(realPath(parent));
    return mknod(parent, ...rest);
  };
  node_ops.rename = (node, parent, name) => {
    changed.add(dirname(realPath(node))).add(realPath(parent));
    rename(node, parent, name);
  };
  node_ops.unlink = (parent, name) => {
    changed.add(realPath(parent));
    unlink(parent, name);
  };
  node_ops.rmdir = (parent, name) => {
    changed.add(realPath(parent));
    rmdir(parent, name);
  };
  stream_ops.fsync = ({ nfd }) => {
    tryFSOperation(() => {
      for (const directory of changed) syncIfPresent(directory);
      changed.clear();
      fsyncSync(nfd);
    });
    return 0;
  };
}

/** A directory that was removed since it changed is recorded in the one above it. */
function syncIfPresent(directory: string): void {
  try {
    syncPath(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
