/** Counts what happens. A read that began at 5 may see whatever was so at 5 or later. */
let clock = 0;

export function tick(): number {
  clock += 1;
  return clock;
}

/** The service has said what cannot be. */
export class Disagreement extends Error {}

interface Span<Value> {
  value: Value;
  from: number;
  to: number;
}

/**
 * Something that a write may change: one value when it is known, several while a write is under way or when nobody knows
 * whether it has happened. Its past is kept, for the reads that began then.
 */
export class Cell<Value> {
  readonly #spans: Span<Value>[];
  /** Until when (`Date.now()`) a write without an answer may still happen. */
  openUntil = 0;
  /** Whether a write is under way: one at a time. */
  busy = false;

  constructor(value: Value) {
    this.#spans = [{ value, from: tick(), to: Infinity }];
  }

  get now(): Value[] {
    return this.#spans.filter(({ to }) => to === Infinity).map(({ value }) => value);
  }

  /** The value, or undefined while that is open. */
  get known(): Value | undefined {
    const { now } = this;
    return now.length === 1 ? now[0] : undefined;
  }

  /** Whether a write may begin: none is under way, and none is left open. */
  get settled(): boolean {
    return !this.busy && this.now.length === 1;
  }

  /** Every value that may have been so at some time since, and from when on. */
  since(time: number): Span<Value>[] {
    return this.#spans.filter(({ to }) => to >= time);
  }

  add(values: readonly Value[]): void {
    const { now } = this;
    for (const value of values) {
      if (!now.includes(value)) this.#spans.push({ value, from: tick(), to: Infinity });
    }
  }

  /** Nothing else is so any more. */
  keep(isKept: (value: Value) => boolean, why: string): void {
    if (!this.now.some(isKept)) throw new Disagreement(`${why}: what was possible is ${JSON.stringify(this.now)}`);
    const to = tick();
    for (const span of this.#spans) if (span.to === Infinity && !isKept(span.value)) span.to = to;
  }
}

/** What a write makes of a cell. */
export interface Change {
  begin(): void;
  /** It has happened, it has not, or nobody knows; then it may still happen for so many milliseconds. */
  done(): void;
  refused(): void;
  unknown(maxCommitDelayMs: number): void;
}

export function change<Value>(cell: Cell<Value>, next: (value: Value) => Value): Change {
  let before: Value[] = [];
  let after: Value[] = [];
  const end = (values: Value[]) => {
    cell.busy = false;
    cell.keep((value) => values.includes(value), 'a write has ended');
  };
  return {
    begin() {
      cell.busy = true;
      before = cell.now;
      after = before.map(next);
      cell.add(after);
    },
    done: () => end(after),
    refused: () => end(before),
    unknown(maxCommitDelayMs) {
      cell.busy = false;
      cell.openUntil = Date.now() + maxCommitDelayMs;
    },
  };
}
