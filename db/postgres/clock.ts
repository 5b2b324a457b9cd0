import { sql } from 'kysely';

/** The current time of PostgreSQL's clock, which all processes share. Unlike `now()`, it advances within a transaction. */
export const NOW = sql<string>`clock_timestamp()`;

/** The time at which the statement started. Unlike `NOW`, it is constant within a statement, so conditions can use an index. */
export const STATEMENT_TIME = sql<string>`statement_timestamp()`;

/** Returns an SQL expression for the current time plus a number of seconds, which may be negative. */
export const secondsFromNow = (seconds: number) => sql<string>`${NOW} + ${seconds}::float8 * interval '1 second'`;
