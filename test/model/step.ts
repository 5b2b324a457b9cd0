import type { StoreName } from '../../db/support/errors.js';
import type { OperationId } from '../../generated/types.js';
import { maskSecrets, shorten } from '../../scripts/contract-test/client/index.js';
import { mulberry32 } from '../../scripts/seed/random.js';
import type { HttpOptions, TestResponse } from '../support/http.js';
import type { ServiceFixture } from './fixture.js';
import type { Model, User } from './model.js';
import { type Change, ModelMismatchError, tick } from './state.js';
import { ViewChecker } from './views.js';

/** A response, or none (`unknown`) if the connection was lost or a store was unavailable (503), and a checker for it. */
type Reply = { since: number; checker: ViewChecker } & (
  | { response: TestResponse; status: number }
  | { response?: undefined; status: 'unknown' }
);

/** A client of the service, which sends one request at a time. It has one user at a time. */
export interface Actor {
  user: User;
}

interface StepRequest extends Omit<HttpOptions, 'token'> {
  /** Defaults to the user's own token. */
  token?: string | undefined;
  /** The stores that the operation needs, besides PostgreSQL. */
  needs?: readonly StoreName[];
}

/** The `done` status of a write that must be refused. No response has this status. */
export const NO_STATUS = -1;

/** One operation of one actor, with its own random numbers. */
export class Step {
  readonly me: User;
  readonly #nextInteger: () => number;
  #token: string | undefined;

  constructor(
    readonly model: Model,
    readonly actor: Actor,
    readonly operation: OperationId,
    seed: number,
    readonly fixture: ServiceFixture,
  ) {
    this.me = actor.user;
    this.#nextInteger = mulberry32(seed);
    // Chosen now, because a write may make the session uncertain.
    this.token();
  }

  /** Returns a random integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return this.#nextInteger() % limit;
  }

  pickOne<Value>(values: readonly Value[]): Value | undefined {
    return values[this.below(values.length || 1)];
  }

  /** Returns a token that is certainly valid, always the same one, or undefined if there is none. */
  token(): string | undefined {
    this.#token ??= this.pickOne(this.me.sessions.filter(({ token, alive }) => token && alive.known === true))?.token;
    return this.#token;
  }

  /** Sends a request, with the user's own token if there is one. */
  async send(method: string, path: string, request: StepRequest = {}): Promise<Reply> {
    const { needs = [], token: given, ...options } = request;
    const token = 'token' in request ? given : this.token();
    const since = tick();
    const response = await this.fixture.send(method, path, { ...options, ...(token !== undefined && { token }) });
    const outcome = response ? `${response.status} ${describe(response.body)}` : 'no response';
    this.fixture.log(
      `${since} ${this.me.label} ${this.operation} ${method} ${path} ${describe(request.form ?? request.json)} → ${outcome}`,
    );
    const checker = new ViewChecker(this.model, this.me, since);
    if (!response) return { since, checker, status: 'unknown' };
    if (response.status === 503) {
      const { unavailableStores } = this.fixture;
      if (![...needs, 'postgres' as const].some((store) => unavailableStores.has(store))) {
        this.fail(response, 'unexpected 503: every store that this operation needs is available');
      }
      return { since, checker, status: 'unknown' };
    }
    this.fixture.executed.add(this.operation);
    return { since, checker, response, status: response.status };
  }

  /**
   * Sends a write and applies its outcome to the model: `done`, one of `refused`, or unknown. Throws on any other status.
   * Returns the response if the write is done.
   */
  async write(
    changes: readonly Change[],
    send: () => Promise<Reply>,
    { done, refused = [] }: { done: number; refused?: readonly number[] },
    maxCommitDelayMs = 0,
  ): Promise<TestResponse | undefined> {
    for (const { begin } of changes) begin();
    const { response, status } = await send();
    if (status === 'unknown') for (const { unknown } of changes) unknown(maxCommitDelayMs);
    else if (status === done) for (const { done } of changes) done();
    else if (refused.includes(status)) for (const { refused } of changes) refused();
    else this.fail(response as TestResponse, `expected ${[done, ...refused]}`);
    return status === done ? response : undefined;
  }

  /** Throws if there is a response whose status is not among the possible ones. */
  expect({ response, status }: Reply, ...possible: number[]): void {
    if (response && !possible.includes(response.status)) this.fail(response, `expected ${possible}, got ${status}`);
  }

  fail({ status, body }: TestResponse, reason: string): never {
    throw new ModelMismatchError(`${this.me.label} ${this.operation}: ${reason}; ${status} ${JSON.stringify(body)}`);
  }
}

const describe = (body: unknown): string => shorten(maskSecrets(JSON.stringify(body) ?? ''), 400);

/** Sends one request, or a few, and checks the responses. */
export type ModelOperation = (step: Step) => Promise<void>;
