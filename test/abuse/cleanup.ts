/** Runs teardown functions in reverse order. Test helpers accept it in place of a test. */
export class Cleanup {
  readonly #ends: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Runs all functions even if one fails, then throws the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
