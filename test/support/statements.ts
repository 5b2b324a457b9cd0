import type { Test } from 'tap';
import { PreparedStatementClient } from '../../db/postgres/client.js';

interface Statement {
  text: string;
  rows: unknown[];
}

/** Records every successful PostgreSQL statement of this process, embedded or not, with the rows it returns. */
export function recordStatements(t: Test): Statement[] {
  const statements: Statement[] = [];
  const { query } = PreparedStatementClient.prototype;
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client has a dozen overloads, of which Kysely uses one.
  PreparedStatementClient.prototype.query = function (this: PreparedStatementClient, ...args: [any, ...any[]]) {
    const result = query.apply(this, args);
    result?.then?.(
      ({ rows }: { rows: unknown[] }) => statements.push({ text: String(args[0]), rows }),
      () => undefined,
    );
    return result;
  };
  t.teardown(() => {
    PreparedStatementClient.prototype.query = query;
  });
  return statements;
}
