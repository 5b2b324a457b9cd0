import type { BareStores } from '../../db/stores.js';
import type { Repair } from './repair.js';
import type { Findings } from './rules.js';

/** Receives the progress of the checks. */
export interface CheckProgress {
  /** @param expected the approximate number of items to check, 0 if unknown */
  begin(subject: string, expected: number): void;
  advance(by: number): void;
  end(): void;
}

/** The arguments of every check. */
export interface CheckContext {
  stores: Pick<BareStores, 'db' | 'graphTransactions' | 'maintenanceDb' | 'graph' | 'images'>;
  findings: Findings;
  /** Undefined in a read-only run. */
  repair: Repair | undefined;
  progress: CheckProgress;
  /** The number of items that are checked together and held in memory. */
  pageSize: number;
}
