import { createHash } from 'node:crypto';
import { createSender } from '../support/requests.js';
import type { Span } from './trace.js';

/** A GET whose response shows whether a write is still there. */
export interface Read {
  path: string;
  token: string;
}

/** A write, and the responses to reads directly after it. Only the client that sent the write changes these responses. */
export interface CompletedWrite extends Span {
  /** The method and the path. */
  request: string;
  facts: { read: Read; response: string }[];
}

/** The responses that are allowed after a power cut. There are several while a write that changes them is in progress. */
export interface Expected {
  read: Read;
  allowed: string[];
}

/** Returns the expected responses after a power cut at this time. Omits reads that no earlier write promised. */
export function expectedAt(writes: readonly CompletedWrite[], at: number): Expected[] {
  const expected = new Map<string, Expected>();
  const begun = writes.filter(({ start }) => start <= at).sort((one, other) => one.start - other.start);
  for (const { end, facts } of begun) {
    for (const { read, response } of facts) {
      const key = JSON.stringify(read);
      if (end <= at) expected.set(key, { read, allowed: [response] });
      else expected.get(key)?.allowed.push(response);
    }
  }
  return [...expected.values()];
}

/** Returns a function that sends requests and throws if a response violates the contract. */
export const createThrowingSender = (url: string) =>
  createSender(
    {
      fail: (...why) => {
        throw new Error(JSON.stringify(why));
      },
    },
    url,
  );

/** Sends a read. Returns the status with a hash of the body. */
export async function responseTo(
  send: ReturnType<typeof createThrowingSender>,
  { path, token }: Read,
): Promise<string> {
  const { status, bytes } = await send('GET', path, { token });
  return `${status} ${createHash('sha256').update(bytes).digest('base64url').slice(0, 12)}`;
}
