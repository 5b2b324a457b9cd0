import pLimit from 'p-limit';
import type { Test } from 'tap';
import type { Stores } from '../../db/stores.js';
import { agree } from './agreement.js';
import type { RequestOptions, TestResponse } from './requests.js';
import { retryWhileBusy, startTestService } from './service.js';
import { onServices } from './stores.js';
import { createUserFactory, type TestUser } from './users.js';

/**
 * How often each race is run, and how many runs of it are under way together. On embedded stores one connection has
 * statements take turns, and little is left to chance.
 */
export const ROUNDS = onServices ? 50 : 15;
const IN_FLIGHT = 8;

/** For a file of races on a machine that has more to do, in milliseconds. */
const TIMEOUT = 600_000;

/** A crowded machine is no store that is away. */
export const PATIENT = { DATABASE_TIMEOUT: '20000', NEO4J_TIMEOUT: '20000' };

export interface Races {
  /** Every service's: their relays and their batches know nothing of each other. */
  everyStores: readonly [Stores, ...Stores[]];
  /** Asks the services by turns, so that of two requests at once each goes to another. */
  ask: TestUser['send'];
  racer: Awaited<ReturnType<typeof createUserFactory>>;
  /** Runs the rounds of one race, then checks that the stores agree. */
  run(t: Test, round: (number: number) => Promise<void>, options?: { inFlight?: number }): Promise<void>;
}

/** Two services on one set of stores where processes may share them, else one. */
export async function openRaces(t: Test): Promise<Races> {
  t.setTimeout(TIMEOUT);
  const first = await startTestService(t, PATIENT);
  const others = onServices ? [await startTestService(t, { ...first.environment, ...PATIENT })] : [];
  const services = [first, ...others];
  let turn = 0;
  let faults: unknown[] = [];
  const ask = async (method: string, path: string, more?: RequestOptions) => {
    turn += 1;
    const service = services[turn % services.length] ?? first;
    const answer = await retryWhileBusy(() => service.send(method, path, more));
    if (answer.status >= 500) {
      const id = answer.headers.get('x-request-id') ?? '';
      const log = service.logged().split('\n');
      faults.push([method, path, answer.status, log.filter((line) => line.includes(id))]);
    }
    return answer;
  };

  return {
    everyStores: [first.stores, ...others.map(({ stores }) => stores)],
    ask,
    racer: await createUserFactory({ stores: first.stores, tokens: first.context.tokens, send: ask }),
    async run(t, round, { inFlight = IN_FLIGHT } = {}) {
      faults = [];
      await rounds(round, inFlight);
      t.same(faults, [], 'no answer is a fault');
      await agree(t, first.stores);
    },
  };
}

export async function rounds(round: (number: number) => Promise<void>, inFlight: number): Promise<void> {
  const limit = pLimit(inFlight);
  await Promise.all(Array.from({ length: ROUNDS }, (_, number) => limit(() => round(number))));
}

/** Asks all of it at once, each of it twice, and answers the statuses of all, sorted. */
export async function atOnce(...asks: (() => Promise<TestResponse>)[]): Promise<number[]> {
  const answers = await Promise.all(asks.flatMap((ask) => [ask(), ask()]));
  return answers.map(({ status }) => status).sort();
}

/** Asks each of it again and again until there is a result, and answers that. */
export async function during<Result>(result: Promise<Result>, ...asks: (() => Promise<unknown>)[]): Promise<Result> {
  let ended = false;
  const repeat = async (ask: () => Promise<unknown>) => {
    while (!ended) await ask();
  };
  const repeated = asks.map(repeat);
  try {
    return await result;
  } finally {
    ended = true;
    await Promise.all(repeated);
  }
}
