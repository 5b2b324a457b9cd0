import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from './command-error.js';

/** The exit code after an unknown option, a surplus argument or a value that cannot be used. */
const WRONG_USAGE = 2;

/** The exit code if another process uses the data directory or a port, whatever the command. */
const IN_USE = 3;

/** Creates the command that `npm run NAME` runs. Errors in its arguments are printed with its options. */
export function createCommand(name: string, description: string): Command {
  return new Command(`npm run ${name} --`)
    .description(description)
    .option('--env-file <file>', 'reads environment variables from this file, with lines of NAME=value')
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
    .on('option:env-file', loadEnvFile);
}

function loadEnvFile(file: string): void {
  try {
    process.loadEnvFile(file);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageError(`--env-file: ${file} ${isMissing ? 'does not exist' : 'cannot be read'}`);
  }
}

/** Returns the exit code for an error. `otherwise` is that of errors without a code of their own. */
export function exitCodeOf(error: unknown, otherwise = 1): number {
  if (error instanceof UsageError) return WRONG_USAGE;
  return error instanceof Error && 'code' in error && /in_use$/.test(`${error.code}`) ? IN_USE : otherwise;
}

/** Read before `--env-file` can set it. */
const { DATA_DIR } = process.env;

/** Returns the line that runs a command with the DATA_DIR of the environment and the `--env-file` of this command. */
export function commandLine(script: string, { envFile }: { envFile?: string }, ...args: string[]): string {
  const variables = DATA_DIR ? [`DATA_DIR=${quote(DATA_DIR)}`] : [];
  const allArgs = [...(envFile === undefined ? [] : ['--env-file', quote(envFile)]), ...args];
  return [...variables, 'npm', script, ...(allArgs.length > 0 ? ['--', ...allArgs] : [])].join(' ');
}

/** Quotes a word for a shell if it needs quotes. */
export const quote = (word: string) => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Parses the arguments and runs the command. If it throws, prints the error and sets the exit code. */
export async function runCommand(command: Command, errorCode = 1): Promise<void> {
  try {
    await command.parseAsync();
  } catch (error) {
    console.error(printableError(error));
    process.exitCode = exitCodeOf(error, errorCode);
  }
}

/** Creates a parser for the value of an option. */
export const integerFrom = (minimum: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= minimum)) throw new InvalidArgumentError(`It must be an integer from ${minimum} to 999999999.`);
  return value;
};

/** Returns the message of an error that the user can fix, and any other error unchanged, to be printed with its stack. */
export function printableError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC') return `The disk is full: free some space and run the command again (${error.message})`;
  if (error.message.startsWith('ENOENT') && 'path' in error) return `${error.path} does not exist`;
  // The codes of this project's errors are in lowercase, and their messages say what to do. System call errors name the address,
  // port or path, and PostgreSQL's 42501 (insufficient privilege) the table or schema.
  const isExpected = 'syscall' in error || /^[a-z_]+$/.test(code) || code === '42501';
  return isExpected ? error.message : error;
}
