import type { StoreName } from '../../db/support/errors.js';
import type { OperationId } from '../../generated/types.js';
import type { RequestOptions, TestResponse } from '../support/requests.js';
import { type Change, Disagreement, tick } from './cell.js';
import type { Person, World } from './world.js';

/** An answer, or the lack of one: lost with its connection, or a 503 of a store that is away. */
export type Reply = { since: number } & (
  | { answer: TestResponse; status: number }
  | { answer?: undefined; status: 'unknown' }
);

/** Somebody's client: one person after the other, each doing one thing after the other. */
export interface Client {
  person: Person;
}

/** How the stage answers a client; null when the connection is lost. */
export interface Stage {
  ask(method: string, path: string, ask: RequestOptions): Promise<TestResponse | null>;
  /** Stores that may not answer, or may have failed to a moment ago. */
  readonly away: ReadonlySet<StoreName>;
  /** For how long a write to the graph without an answer may still happen, in milliseconds. */
  readonly maxCommitDelayMs: number;
  note(line: string): void;
  played(operation: OperationId): void;
}

export interface Question extends Omit<RequestOptions, 'token'> {
  /** One's own, unless this is said. */
  token?: string | undefined;
  /** What the operation cannot do without, besides PostgreSQL. */
  needs?: readonly StoreName[];
}

/** One operation of one client. */
export class Turn {
  readonly me: Person;
  #random: number;
  #token: string | undefined;

  constructor(
    readonly world: World,
    readonly client: Client,
    readonly operation: OperationId,
    seed: number,
    readonly stage: Stage,
  ) {
    this.me = client.person;
    this.#random = seed;
    // Before a write puts it in doubt.
    this.token();
  }

  /** A number from 0 to below, always the same of the same seed: mulberry32. */
  pick(below: number): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  }

  /** Undefined when there is none. */
  one<Value>(values: readonly Value[]): Value | undefined {
    return values[this.pick(values.length || 1)];
  }

  /** A token that is good for certain, always the same one. */
  token(): string | undefined {
    this.#token ??= this.one(this.me.sessions.filter(({ token, alive }) => token && alive.known === true))?.token;
    return this.#token;
  }

  /** Asks with a token of one's own, if one is there. */
  async ask(method: string, path: string, more: Question = {}): Promise<Reply> {
    const { needs = [], token: given, ...ask } = more;
    const token = 'token' in more ? given : this.token();
    const since = tick();
    const answer = await this.stage.ask(method, path, { ...ask, ...(token !== undefined && { token }) });
    const said = answer ? `${answer.status} ${shorten(answer.body)}` : 'no answer';
    this.stage.note(
      `${since} ${this.me.label} ${this.operation} ${method} ${path} ${shorten(more.form ?? more.json)} → ${said}`,
    );
    if (!answer) return { since, status: 'unknown' };
    if (answer.status === 503) {
      const { away } = this.stage;
      if (![...needs, 'postgres' as const].some((store) => away.has(store))) {
        this.disagree(answer, 'every store that this needs answers');
      }
      return { since, status: 'unknown' };
    }
    this.stage.played(this.operation);
    return { since, answer, status: answer.status };
  }

  /** Makes a write, whose status tells what has become of it. */
  async write(
    changes: readonly Change[],
    ask: () => Promise<Reply>,
    { done, refused }: { done: number; refused: readonly number[] },
    maxCommitDelayMs = 0,
  ): Promise<TestResponse | undefined> {
    for (const { begin } of changes) begin();
    const { answer, status } = await ask();
    if (status === 'unknown') for (const { unknown } of changes) unknown(maxCommitDelayMs);
    else if (status === done) for (const { done } of changes) done();
    else if (refused.includes(status)) for (const { refused } of changes) refused();
    else this.disagree(answer as TestResponse, `expected ${[done, ...refused]}`);
    return status === done ? answer : undefined;
  }

  /** Holds a status against those that are possible. */
  expect({ answer, status }: Reply, ...possible: number[]): void {
    if (answer && !possible.includes(answer.status)) this.disagree(answer, `expected ${possible} and not ${status}`);
  }

  disagree({ status, body }: TestResponse, why: string): never {
    throw new Disagreement(`${this.me.label} ${this.operation}: ${why}; ${status} ${JSON.stringify(body)}`);
  }
}

const shorten = (body: unknown): string => {
  const hide = (key: string, value: unknown) => {
    if (/password|token/.test(key)) return '…';
    return value instanceof Blob ? `${value.size} bytes` : value;
  };
  return JSON.stringify(body, hide)?.slice(0, 400) ?? '';
};

export type Operation = (turn: Turn) => Promise<void>;
