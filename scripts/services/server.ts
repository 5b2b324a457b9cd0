import type { Launch } from './processes.js';
import type { Program } from './programs.js';
import type { State } from './state.js';

/** Fetches, configures and checks one server. Each implementation is in a file named after its server. */
export interface Server {
  title: string;
  /** The signal for a clean shutdown that does not wait for clients to disconnect. */
  stopSignal: NodeJS.Signals;
  /** Matches the log of a failed start that should be retried. */
  retryOn?: RegExp;
  /** Checks, before anything is fetched, that the server can run on this machine. @throws CommandError */
  check?(): void;
  /** Returns the programs that are needed to run the server and, unless it is already present, to fetch it. */
  requiredPrograms(): Program[];
  /** Returns whether the server is already present: fetched earlier, or installed on this machine. */
  isFetched(): boolean;
  fetch(): Promise<void>;
  /** Returns the version. Call it only if `isFetched` returns true. */
  version(): string;
  /** Creates the data directory and the configuration, and returns the command that starts the server. */
  prepare(state: State, port: number): Promise<Launch>;
  /** Throws unless the server serves a request. Also completes its setup, such as creating the bucket. */
  checkReady(state: State, port: number): Promise<void>;
}
