import type { FastifyInstance } from 'fastify';

/** The maximum number of lines of one kind that a server logs in a second, so that a flood of them does not fill the disk. */
const MAX_LINES_PER_SECOND = 20;

/**
 * Creates a limit for one kind of log line that no rate limit bounds. The returned function returns whether to log another
 * line. The number of lines omitted in a second is logged at the end of the second, with `omittedMessage`.
 */
export function createLogLimit(omittedMessage: string): (server: FastifyInstance) => boolean {
  /** The number of lines of each server in the current second. */
  const counts = new WeakMap<FastifyInstance, number>();

  function logOmitted(server: FastifyInstance): void {
    const omitted = (counts.get(server) ?? 0) - MAX_LINES_PER_SECOND;
    counts.delete(server);
    if (omitted > 0) server.log.info({ omitted }, omittedMessage);
  }

  return (server) => {
    const count = (counts.get(server) ?? 0) + 1;
    counts.set(server, count);
    if (count === 1) setTimeout(() => logOmitted(server), 1000).unref();
    return count <= MAX_LINES_PER_SECOND;
  };
}
