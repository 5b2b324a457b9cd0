/** Closes what has been opened, in reverse order. */
export class Closers {
  readonly #closers: (() => unknown)[] = [];

  /** Adds a function that closes what was just opened. */
  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, even if closing something fails. @throws the first error, after the rest is closed */
  readonly close = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };

  /** Closes everything because of an error, and throws this error. Ignores errors from closing, which would hide it. */
  async closeAfter(error: unknown): Promise<never> {
    await this.close().catch(() => undefined);
    throw error;
  }
}
