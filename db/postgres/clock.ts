import { sql } from 'kysely';

/** By PostgreSQL's clock, which is the only one that everybody shares; within a transaction it goes on. */
export const NOW = sql<string>`clock_timestamp()`;

export const after = (seconds: number) => sql<string>`${NOW} + ${seconds}::float8 * interval '1 second'`;
