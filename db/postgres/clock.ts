import { sql } from 'kysely';

/** PostgreSQL's clock is the only one that all processes share. Unlike `now()`, it advances within a transaction. */
export const NOW = sql<string>`clock_timestamp()`;

export const after = (seconds: number) => sql<string>`${NOW} + ${seconds}::float8 * interval '1 second'`;
