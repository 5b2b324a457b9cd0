import { printableError } from './printable-error.js';

/** Runs the main function of a command. If it throws, prints the error and sets the exit code. */
export async function runCommand(main: () => Promise<void>, errorCode = 1): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(printableError(error));
    process.exitCode = errorCode;
  }
}
