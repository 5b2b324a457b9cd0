import type { Launch } from './processes.js';
import type { State } from './state.js';
import type { Tool } from './tools.js';

/** How to fetch, configure and check one server. Each implementation is in a file of the same name. */
export interface Server {
  title: string;
  /** The signal for a graceful stop while clients are connected. */
  stopSignal: NodeJS.Signals;
  /** Matches its log if a failed start should be retried. */
  retryOn?: RegExp;
  /** @throws CommandError if it cannot run on this machine. Called before anything is fetched. */
  check?(): void;
  /** The programs needed to run it and, if necessary, to fetch it. */
  tools(): Tool[];
  isFetched(): boolean;
  fetch(): Promise<void>;
  /** Requires that it is fetched. */
  version(): string;
  /** Creates data directory and configuration. */
  prepare(state: State, port: number): Promise<Launch>;
  /** Throws unless it serves a request. Also completes the first start, such as creating the bucket. */
  checkReady(state: State, port: number): Promise<void>;
}
