import type { BareStores } from '../../db/stores.js';
import type { Repair } from './repair.js';

/** The arguments of every check. */
export interface CheckContext {
  stores: Pick<BareStores, 'db' | 'graphTransactions' | 'maintenanceDb' | 'graph' | 'images'>;
  findings: ReturnType<typeof createFindings>;
  /** Undefined in a read-only run. */
  repair: Repair | undefined;
  /** Yields the pages, and reports the progress of their check. */
  track<Item>(pages: AsyncIterable<Item[]>): AsyncIterable<Item[]>;
  /** The number of items that are checked together and held in memory. */
  pageSize: number;
}

/** A condition that holds while the stores agree. */
interface Rule {
  title: string;
  /** The repair of a violation, in the past tense. Undefined if a violation cannot be repaired. */
  remedy?: string;
  /** The advice to operators for violations that cannot be repaired. */
  advice?: string;
  /** Whether a violation is reported without counting as a disagreement. */
  note?: true;
}

/**
 * The rules in the order of their checks. A repair may also resolve violations of later rules.
 *
 * They cover what a restored backup of one store, a restore of data alone, a lost disk, or an interrupted write can leave
 * behind. Other states that a single store excludes by a constraint or a transaction, such as one-sided friendships, have no
 * rule: tests check them.
 */
const RULES = {
  sequencesAhead: { title: 'Sequences are ahead of all ids in use', remedy: 'sequence raised' },
  personHasAccount: { title: 'Every Person node has its account', remedy: 'removed from the graph' },
  postNodeHasPost: { title: 'Every Post node has its post', remedy: 'removed from the graph' },
  accountHasPerson: { title: 'Every account has its Person node', remedy: 'added to the graph' },
  postHasNode: { title: 'Every post has its Post node', remedy: 'added to the graph' },
  imageHasRow: { title: 'Every stored image belongs to a row', remedy: 'bytes removed' },
  onlyImages: {
    title: 'The image store contains only images',
    note: true,
    advice: 'the service does not use such names and ignores these files',
  },
  rowHasImage: { title: 'Every row’s image is stored', advice: 'restore the bytes from a backup of the image store' },
  storedBytes: { title: 'Every account’s stored bytes are correct', remedy: 'recalculated' },
  noOverdueEntry: { title: 'No outbox entry is overdue by more than 5 minutes', remedy: 'delivered' },
  noFailingDelivery: {
    title: 'No delivery has failed 10 times',
    advice: 'see the service’s log; the service keeps retrying',
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** The result of checking one rule. */
export interface Finding {
  name: RuleName;
  rule: Rule;
  /** The number of violations. */
  found: number;
  repaired: number;
  /** The first few violations. */
  examples: string[];
}

const MAX_EXAMPLES = 5;

export function createFindings() {
  const findings = new Map<RuleName, Finding>();
  for (const [name, rule] of Object.entries(RULES) as [RuleName, Rule][]) {
    findings.set(name, { name, rule, found: 0, repaired: 0, examples: [] });
  }
  return {
    /** @param violations one description for each */
    add(name: RuleName, violations: readonly string[], repaired = 0) {
      const finding = findings.get(name);
      if (!finding) return;
      finding.found += violations.length;
      finding.repaired += repaired;
      finding.examples.push(...violations.slice(0, MAX_EXAMPLES - finding.examples.length));
    },
    /** Returns one finding for each rule, in order, including rules without violations. */
    all: () => [...findings.values()],
  };
}
