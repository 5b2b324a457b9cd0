/** An error that the user of a command can fix. Printed without a stack. */
export class CommandError extends Error {
  readonly code = 'command_error';
}
