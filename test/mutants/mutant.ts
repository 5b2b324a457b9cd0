/** A small breach of the contract, as one change of one built file. */
export interface Mutant {
  /** What the service does wrong. */
  breach: string;
  /** The file, below the folder of what is built. */
  file: string;
  /** What stands there exactly once. */
  find: string;
  replace: string;
  /** The rules of the contract tests that must be broken by it, by how their names begin. */
  caughtBy: string[];
}
