/** An argument of a command cannot be used. The command exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage_error';
}

/** Another process uses what the command needs. The command exits with 3. */
export class InUseError extends Error {
  override readonly name = 'InUseError';
  readonly code = 'in_use';
}

/** An error that the user of a command can fix. It is printed without its stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code = 'command_error';
}
