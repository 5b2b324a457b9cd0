import type { Test } from 'tap';
import { PreparedStatementClient } from '../../db/postgres/client.js';

interface Statement {
  text: string;
  rows: unknown[];
}

/**
 * Records every successful PostgreSQL statement of this process, embedded or not, with the rows it returns.
 *
 * @param onStatement called after each statement, before its result is used
 */
export function recordStatements(t: Test, onStatement?: (statement: Statement) => void): Statement[] {
  const statements: Statement[] = [];
  const { query } = PreparedStatementClient.prototype;
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client has a dozen overloads, of which Kysely uses one.
  PreparedStatementClient.prototype.query = function (this: PreparedStatementClient, ...args: [any, ...any[]]) {
    const result = query.apply(this, args);
    result?.then?.(
      ({ rows }: { rows: unknown[] }) => {
        // A new connection sends its settings as an object.
        const statement = { text: String(args[0].text ?? args[0]), rows };
        statements.push(statement);
        onStatement?.(statement);
      },
      () => undefined,
    );
    return result;
  };
  t.teardown(() => {
    PreparedStatementClient.prototype.query = query;
  });
  return statements;
}
