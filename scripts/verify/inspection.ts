import type { BareStores } from '../../db/stores.js';
import type { Repair } from './repair.js';
import type { Findings } from './rules.js';

/** Shows how far a check has come. */
export interface Progress {
  /** `expected` is roughly how many things there are to look at. */
  begin(subject: string, expected: number): void;
  advance(by: number): void;
  end(): void;
}

/** What every check is given. */
export interface Inspection {
  stores: Pick<BareStores, 'db' | 'graphTransactions' | 'maintenanceDb' | 'graph' | 'images'>;
  findings: Findings;
  /** Undefined when nothing may be changed. */
  repair: Repair | undefined;
  progress: Progress;
  /** How many things are looked at together, and held in memory. */
  pageSize: number;
}
