import type { CheckedResponse } from '../../client/index.js';
import { expectThat } from '../../expect.js';
import { type Rule, rule } from '../../rule.js';
import type { TestUsers, User } from '../../users.js';
import type { Pair } from '../friends/pairs.js';

/** The number of times that each race is run, because a single run may miss a failure. */
export const ROUNDS_PER_RACE = 2;

/** Returns the two users of most races. */
export const getPair = (users: TestUsers): Promise<Pair> =>
  users.shared('racing pair', async () => {
    const [one, other] = await Promise.all([users.register(), users.register()]);
    return { one, other };
  });

/** Creates a rule that runs a race of two users several times. */
export const raceRule = (
  id: string,
  sentence: string,
  runRace: (pair: Pair, round: number, users: TestUsers) => Promise<void>,
): Rule =>
  rule(id, sentence, async (users) => {
    const pair = await getPair(users);
    for (let round = 0; round < ROUNDS_PER_RACE; round++) await runRace(pair, round, users);
  });

type Request = [sender: User, line: string];

/** Returns the same request several times. */
export const copies = (count: number, sender: User, line: string): Request[] => Array(count).fill([sender, line]);

/** At least one response. */
type Responses = [CheckedResponse, ...CheckedResponse[]];

/** Sends requests concurrently, and checks that each response has one of the statuses. */
export async function race(expected: number | number[], ...requests: Request[]): Promise<Responses> {
  return (await Promise.all(requests.map(([{ send }, line]) => send(expected, line)))) as Responses;
}

/** Throws an ExpectationError unless exactly one of the requests succeeded. Returns its response. */
export function expectOneSuccess(responses: CheckedResponse[]): CheckedResponse {
  const [first, ...others] = responses.filter(({ status }) => status < 300);
  expectThat(first && others.length === 0, 'one request to succeed, and no more', first ?? responses[0]);
  return first;
}
