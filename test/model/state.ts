/** A logical clock. A read that began at 5 may return any value that was possible at 5 or later. */
let clock = 0;

export function tick(): number {
  clock += 1;
  return clock;
}

/** Thrown when a response is impossible according to the model. */
export class ModelMismatchError extends Error {
  readonly code = 'model_mismatch';
}

/** A value and the period in which it was possible. */
interface Span<Value> {
  value: Value;
  from: number;
  to: number;
}

/** The effect of one write on a state. */
export interface Change {
  begin(): void;
  /** One of the next three follows `begin`. After `unknown` the write may still be committed within the delay. */
  done(): void;
  refused(): void;
  unknown(maxCommitDelayMs: number): void;
}

/**
 * The possible values of one piece of state: one if it is known, several while a write is in progress or if its outcome is
 * unknown. Past values are kept for reads that began earlier.
 */
export class State<Value> {
  readonly #spans: Span<Value>[];
  /** The time (`Date.now()`) until which a write without a response may still be committed. */
  uncertainUntil = 0;
  /** Whether a write is in progress; only one is allowed at a time. */
  #busy = false;

  constructor(value: Value) {
    this.#spans = [{ value, from: tick(), to: Infinity }];
  }

  get current(): Value[] {
    return this.#spans.filter(({ to }) => to === Infinity).map(({ value }) => value);
  }

  /** The value, or undefined while several are possible. */
  get known(): Value | undefined {
    const { current } = this;
    return current.length === 1 ? current[0] : undefined;
  }

  /** Whether a write may begin: none is in progress, and the value is known. */
  get isWritable(): boolean {
    return !this.#busy && this.current.length === 1;
  }

  /** Returns every value that was possible at `time` or later, with the period in which it was. */
  spansSince(time: number): Span<Value>[] {
    return this.#spans.filter(({ to }) => to >= time);
  }

  valuesSince(time: number): Value[] {
    return this.spansSince(time).map(({ value }) => value);
  }

  /** Adds a possible value. */
  add(value: Value): void {
    if (!this.current.includes(value)) this.#spans.push({ value, from: tick(), to: Infinity });
  }

  /** Removes all values that fail the predicate. Throws if none remains. */
  narrow(isPossible: (value: Value) => boolean, reason: string): void {
    if (!this.current.some(isPossible))
      throw new ModelMismatchError(`${reason}: possible values were ${JSON.stringify(this.current)}`);
    const to = tick();
    for (const span of this.#spans) if (span.to === Infinity && !isPossible(span.value)) span.to = to;
  }

  /** Returns the change by a write that sets this value. */
  changeTo(value: Value): Change {
    let before: Value[] = [];
    const end = (values: Value[]) => {
      this.#busy = false;
      this.narrow((value) => values.includes(value), 'a write has completed');
    };
    return {
      begin: () => {
        this.#busy = true;
        before = this.current;
        this.add(value);
      },
      done: () => end([value]),
      refused: () => end(before),
      unknown: (maxCommitDelayMs) => {
        this.#busy = false;
        this.uncertainUntil = Date.now() + maxCommitDelayMs;
      },
    };
  }
}
