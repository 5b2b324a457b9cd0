/** Small breaches of the contract. Each key describes the wrong behavior of the service. */
export type Mutants = Record<string, Mutant>;

/** A change of one source file. */
export interface Mutant {
  file: string;
  /** Code that occurs exactly once; white space may differ. */
  find: string;
  replace: string;
  /** The ids of the contract test rules that must fail. */
  caughtBy: string[];
}
