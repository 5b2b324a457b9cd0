import type { CheckedResponse } from '../../exchange.js';
import { expectThat } from '../../expect.js';
import type { TestUsers, User } from '../../users.js';

/** The number of times that each race is run, because a single run may miss a failure. */
export const ROUNDS_PER_RACE = 2;

export interface Pair {
  one: User;
  other: User;
}

/** Returns the two users of most races. */
export const getPair = (users: TestUsers): Promise<Pair> =>
  users.shared('racing pair', async () => {
    const [one, other] = (await Promise.all([users.register(), users.register()])) as [User, User];
    return { one, other };
  });

export type Request = [user: User, line: string];

/** Sends requests concurrently, and checks that each response has one of the statuses. */
export async function race(wanted: number[], ...requests: Request[]): Promise<CheckedResponse[]> {
  return Promise.all(requests.map(([{ send }, line]) => send(wanted, line)));
}

export const successCount = (responses: CheckedResponse[]) => responses.filter(({ status }) => status === 200).length;

export function expectOneSuccess(responses: CheckedResponse[], subject: string): void {
  expectThat(
    successCount(responses) === 1,
    `${subject} to succeed once, not ${successCount(responses)} times`,
    responses[0],
  );
}

export const sortedStatuses = (responses: CheckedResponse[]) => responses.map(({ status }) => status).sort();
