/** A small breach of the contract, as one change of one source file. */
export interface Mutant {
  /** What the service does wrong. */
  breach: string;
  file: string;
  /** What stands there exactly once, however it is wrapped. */
  find: string;
  replace: string;
  /** The ids of the contract test rules that must fail. */
  caughtBy: string[];
}
