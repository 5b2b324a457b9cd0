import type { MessagePort } from 'node:worker_threads';

/** What the thread of the embedded PostgreSQL is started with. */
export interface WorkerInput {
  directory: string;
  /** Whether to create the database if it does not exist. */
  create: boolean;
}

/**
 * What the main thread sends: `connect` begins a session, whose bytes in PostgreSQL's protocol go over its port in both
 * directions. `close` shuts PostgreSQL down, and the thread ends.
 */
export type Command = { kind: 'connect'; port: MessagePort } | { kind: 'close' };

/** What the thread sends, once: that it serves, or why it cannot open the directory. */
export type Report = { kind: 'ready' } | { kind: 'failed'; reason: string };
