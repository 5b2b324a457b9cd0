import type { Launch } from './processes.js';
import type { State } from './state.js';
import type { Tool } from './tools.js';

/** One file for each real server, named after it. */
export interface Server {
  title: string;
  /** What ends it in good order, with clients connected. */
  stopSignal: NodeJS.Signals;
  /** In its log when it could not start yet, and may a moment later. */
  tryLater?: RegExp;
  /** Throws a ServicesError that says why it cannot run here, before anything is fetched. */
  check?(): void;
  /** What it takes to fetch it, unless it is fetched, and to run it. */
  tools(): Tool[];
  fetched(): boolean;
  fetch(): Promise<void>;
  /** Known once it is fetched. */
  version(): string;
  /** Lays out data and configuration. */
  prepare(state: State, port: number): Promise<Launch>;
  /** Throws unless it serves a real request. What it lacks at first, a bucket say, is made here. */
  answers(state: State, port: number): Promise<void>;
}
