import type { Span } from './trace.js';

/*
 * Facts that responses promise and that can be checked later: an account with its password, a session, a post. Each fact is
 * changed by only one client, which waits for each response before its next request.
 */

/**
 * A `null` value means that the entity must not exist. `author`, `from` and `to` are email addresses. In a value, `text`,
 * `image` and `picture` are hashes. The value of an idempotency key is the id of the post that was created with it.
 */
export type Fact =
  | { kind: 'account'; email: string; value: { password: string } | null }
  | { kind: 'session'; token: string; value: boolean }
  | { kind: 'profile'; email: string; value: { name: string; private: boolean; picture: string | null } | null }
  | { kind: 'post'; id: number; author: string; value: { title: string; text: string; image: string | null } | null }
  | { kind: 'like'; id: number; author: string; email: string; value: boolean }
  | { kind: 'friendship'; from: string; to: string; value: 'none' | 'requested' | 'friends' }
  | { kind: 'idempotency key'; email: string; key: string; title: string; text: string; value: number };

/** A request with the facts that its response promises. */
export interface CompletedRequest extends Span {
  /** The method and the path. */
  request: string;
  facts: Fact[];
}

/** The allowed values of a fact. There are several while a request that changes it is in progress. */
export interface Expected {
  fact: Fact;
  allowed: Fact['value'][];
}

function keyOf(fact: Fact): string {
  const { value, ...key } = fact;
  return JSON.stringify(key);
}

/** Returns the expected facts after a power cut at this time. Omits facts that no earlier response promised. */
export function expectedAt(requests: readonly CompletedRequest[], at: number): Expected[] {
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
