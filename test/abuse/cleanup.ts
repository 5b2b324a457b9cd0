/** Collects teardown functions and runs them in reverse order. Most test helpers accept it in place of a test. */
export class Cleanup {
  readonly #teardowns: (() => unknown)[] = [];

  teardown(teardown: () => unknown): void {
    this.#teardowns.push(teardown);
  }

  /** Runs all functions even if one fails, then throws the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let teardown = this.#teardowns.pop(); teardown; teardown = this.#teardowns.pop()) {
      try {
        await teardown();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
