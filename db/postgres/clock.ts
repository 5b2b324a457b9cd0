import { sql } from 'kysely';

/** The current time of PostgreSQL's clock, which all processes share. Unlike `now()`, it advances within a transaction. */
export const NOW = sql<string>`clock_timestamp()`;

/** Returns an SQL expression for the current time plus a number of seconds, which may be negative. */
export const secondsFromNow = (seconds: number) => sql<string>`${NOW} + ${seconds}::float8 * interval '1 second'`;
