/** What the stores have to say while they run: pino's form. */
export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}
