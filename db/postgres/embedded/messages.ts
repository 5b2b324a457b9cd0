import type { MessagePort } from 'node:worker_threads';

/** The `workerData` of the PostgreSQL thread. */
export interface WorkerInput {
  directory: string;
  /** Whether to create the database instead of opening it. */
  create: boolean;
}

/**
 * Messages to the thread. `connect` closes the current connection and opens a new one, whose port carries PostgreSQL's
 * wire protocol in both directions. `close` shuts PostgreSQL down and ends the thread.
 */
export type Command = { kind: 'connect'; port: MessagePort } | { kind: 'close' };

/** The only message from the thread: PostgreSQL is ready, the database is created, or that failed. */
export type Report = { kind: 'ready' } | { kind: 'failed'; reason: string };
