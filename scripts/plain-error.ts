/** What an operator can mend: its message is all that is printed. */
export class PlainError extends Error {
  readonly code = 'plain';
}
