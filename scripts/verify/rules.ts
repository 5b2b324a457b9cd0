/** Something that holds as long as the stores agree. */
export interface Rule {
  says: string;
  /** What a repair has done about a breach. Without it a breach cannot be mended, and `advice` says what somebody can do. */
  remedy?: string;
  advice?: string;
  /** A breach is worth a look, and no disagreement. */
  note?: true;
}

/** In the order in which they are checked: what an earlier repair settles, a later check does not meet. */
export const RULES = {
  idsAreNew: { says: 'No id is given out twice', remedy: 'sequence raised' },
  personHasAccount: { says: 'Every Person node has its account', remedy: 'removed from the graph' },
  postNodeHasPost: { says: 'Every Post node has its post', remedy: 'removed from the graph' },
  accountHasPerson: { says: 'Every account has its Person node', remedy: 'added to the graph' },
  postHasNode: { says: 'Every post has its Post node', remedy: 'added to the graph' },
  selfless: { says: 'Nobody is related to himself', remedy: 'relation removed' },
  once: { says: 'Nothing is in the graph twice', remedy: 'all but one removed' },
  bothWays: { says: 'Every friendship goes both ways', remedy: 'friendship removed' },
  friendOrRequested: { says: 'Nobody is both friend and requested', remedy: 'request removed' },
  oneRequest: { says: 'No two people have asked each other', remedy: 'the younger account’s request removed' },
  imageHasRow: { says: 'Every stored image belongs to a row', remedy: 'bytes removed' },
  onlyImages: {
    says: 'The image store holds images alone',
    note: true,
    advice: 'the service gives no such names, and leaves these files alone',
  },
  imageHasOneRow: {
    says: 'No image belongs to two rows',
    advice: 'the picture and the post go by the same file: have one of them replaced',
  },
  rowHasImage: { says: 'Every row’s image is stored', advice: 'restore the bytes from a backup of the image store' },
  postHasAuthor: {
    says: 'Every post has its author',
    note: true,
    advice: 'such a post is shown as a public account’s would be',
  },
  storedBytes: { says: 'Every account counts its stored bytes', remedy: 'counted again' },
  onTime: { says: 'Nothing has been due for over 5 minutes', remedy: 'delivered' },
  deliverable: {
    says: 'No delivery has failed 10 times',
    advice: 'the service’s log says why, and the service tries on',
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

/** What became of one rule. */
export interface Finding {
  name: RuleName;
  rule: Rule;
  found: number;
  mended: number;
  /** The first few, for people. */
  examples: string[];
}

const EXAMPLES = 5;

export interface Findings {
  add(name: RuleName, examples: readonly string[], mended?: number): void;
  /** One for each rule, in their order, those included that nothing breaks. */
  all(): Finding[];
}

export function createFindings(): Findings {
  const findings = new Map<RuleName, Finding>();
  for (const [name, rule] of Object.entries(RULES) as [RuleName, Rule][]) {
    findings.set(name, { name, rule, found: 0, mended: 0, examples: [] });
  }
  return {
    add(name, examples, mended = 0) {
      const finding = findings.get(name);
      if (!finding) return;
      finding.found += examples.length;
      finding.mended += mended;
      finding.examples.push(...examples.slice(0, EXAMPLES - finding.examples.length));
    },
    all: () => [...findings.values()],
  };
}
