/** A small breach of the contract, as one change of one source file. */
export interface Mutant {
  /** The wrong behavior of the service. */
  breach: string;
  file: string;
  /** Code that occurs exactly once; white space may differ. */
  find: string;
  replace: string;
  /** The ids of the contract test rules that must fail. */
  caughtBy: string[];
}
