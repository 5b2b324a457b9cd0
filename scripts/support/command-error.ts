/** An error that the user of a command can fix. It is printed without its stack. */
export class CommandError extends Error {
  readonly code = 'command_error';
}
