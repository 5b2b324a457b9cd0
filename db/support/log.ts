/** The methods of pino's logger that the stores use. */
export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}
