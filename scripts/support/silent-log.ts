import type { Log } from '../../db/support/log.js';

/** The log of stores that a command opens: the command's own output, or its error, says what is wrong with a store. */
export const silentLog: Log = { info: () => undefined, warn: () => undefined };
