import { createHash } from 'node:crypto';
import pg from 'pg';
import type { CircuitBreaker } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import { type Observer, timed } from '../support/observer.js';

const { INT8, TIMESTAMPTZ } = pg.types.builtins;
const dateOf = pg.types.getTypeParser(TIMESTAMPTZ);

/**
 * The `types` option of a pool. Parses `int8` as a number, because the API bounds ids to safe integers, and returns times as
 * strings in the format of the API.
 */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return (text: string) => dateOf(text).toISOString();
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/**
 * A client that prepares every parameterized statement under a name, so that PostgreSQL parses it once per connection. Lists
 * are sent as one array parameter, which keeps the number of distinct statements small.
 */
export class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg.Client has a dozen overloads, of which Kysely uses one.
  override query(statement: any, ...rest: any[]): any {
    const [values] = rest;
    if (typeof statement !== 'string' || !Array.isArray(values) || values.length === 0) {
      return super.query(statement, ...rest);
    }
    return super.query({ name: statementName(statement), text: statement, values });
  }
}

const names = new Map<string, string>();

function statementName(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
}

/**
 * Returns a NamingClient class whose statements run through the circuit breaker. A connection is closed when a statement on
 * it was given up: the server rolls back an open transaction, but a single statement may still complete. If the server
 * reported the error itself, the connection stays open for the rollback.
 */
export function clientWithBreaker(breaker: CircuitBreaker): typeof pg.Client {
  return class extends NamingClient {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    override async query(...statement: [any, ...any[]]): Promise<any> {
      let responded = false;
      const run = async () => {
        try {
          return await super.query(...statement);
        } catch (error) {
          responded = error instanceof pg.DatabaseError;
          throw error;
        }
      };
      try {
        return await breaker.run(run);
      } catch (error) {
        // The pool discards a client that has ended.
        if (error instanceof StoreUnavailableError && !responded) void this.end();
        throw error;
      }
    }
  };
}

/** Returns a client class that reports the duration of every statement. */
export function clientWithMetrics(Client: typeof pg.Client, observer: Observer): typeof pg.Client {
  return class extends Client {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    override async query(...statement: [any, ...any[]]): Promise<any> {
      return timed(observer, 'postgres', 'query', super.query(...statement));
    }
  };
}

export function createPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  // Without listeners, losing an idle connection would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * SQLSTATEs of errors that are not caused by the statement: connection, authorization, missing database, serialization
 * failures and terminated transactions, insufficient resources, operator intervention, system errors, lock timeouts.
 */
const UNAVAILABLE = /^(08|28|3D|40|53|57|58)|^(25006|25P0[34]|55P03)$/;

/** Errors that the server did not report, except TypeErrors, are connection failures. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? UNAVAILABLE.test(error.code ?? '') : !(error instanceof TypeError);
}
