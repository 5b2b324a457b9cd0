/*
 * What responses promise, as facts that can be looked up later: an account with its password, a session, a post. Each fact is
 * changed by one client only, which waits for one response before it sends the next request.
 */

/** `null` where there must be no such thing. */
export type Fact =
  | { kind: 'account'; email: string; value: { password: string } | null }
  | { kind: 'session'; token: string; value: boolean }
  | { kind: 'profile'; email: string; value: { name: string; private: boolean; picture: string | null } | null }
  | { kind: 'post'; id: number; author: string; value: { title: string; text: string; image: string | null } | null }
  | { kind: 'like'; id: number; author: string; email: string; value: boolean }
  | { kind: 'friendship'; from: string; to: string; value: 'none' | 'requested' | 'friends' }
  | { kind: 'idempotency key'; email: string; key: string; title: string; text: string; value: number };

/** A request that was answered, and by that the facts which the response has promised. Times as in a trace. */
export interface Answered {
  what: string;
  start: number;
  end: number;
  facts: Fact[];
}

/** What may be found: one of several values while a request that changes it has no response yet. */
export interface Expected {
  fact: Fact;
  allowed: Fact['value'][];
}

function keyOf(fact: Fact): string {
  const { value, ...key } = fact;
  return JSON.stringify(key);
}

/** What has to be found after a power cut at this time. Nothing is known of what no response has told of before. */
export function expectedAt(requests: readonly Answered[], at: number): Expected[] {
  const expected = new Map<string, Expected>();
  const begun = requests.filter(({ start }) => start <= at).sort((one, other) => one.start - other.start);
  for (const { end, facts } of begun) {
    for (const fact of facts) {
      const key = keyOf(fact);
      if (end <= at) expected.set(key, { fact, allowed: [fact.value] });
      else expected.get(key)?.allowed.push(fact.value);
    }
  }
  return [...expected.values()];
}
