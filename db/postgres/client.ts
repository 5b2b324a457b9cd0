import { createHash } from 'node:crypto';
import pg from 'pg';
import type { CircuitBreaker } from '../support/circuit-breaker.js';
import { StoreUnavailableError } from '../support/errors.js';
import { type Observer, timed } from '../support/observer.js';

const { INT8, TIMESTAMPTZ } = pg.types.builtins;
const dateOf = pg.types.getTypeParser(TIMESTAMPTZ);

/**
 * What a pool's options say about results: ids stay within what a JavaScript number holds, as the contract bounds them; times
 * are spelled as the contract spells them.
 */
export const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return Number;
    if (oid === TIMESTAMPTZ) return (text: string) => dateOf(text).toISOString();
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/**
 * Gives every parameterised statement a name, so that PostgreSQL parses and plans it once per connection. Lists travel as
 * one array parameter, which keeps the number of different statements small.
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
 * The same, with a deadline for every statement. A connection on which one was given up is closed: nobody knows what it is
 * still doing. The server rolls back a transaction that was open on it; a statement that was one by itself may go on. One on
 * which the server has answered, be it that it has ended the statement, is still good for the rollback.
 */
export function guardedClient(guard: CircuitBreaker): typeof pg.Client {
  return class extends NamingClient {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    override async query(...statement: [any, ...any[]]): Promise<any> {
      let answered = false;
      const ask = async () => {
        try {
          return await super.query(...statement);
        } catch (error) {
          answered = error instanceof pg.DatabaseError;
          throw error;
        }
      };
      try {
        return await guard.run(ask);
      } catch (error) {
        // It cuts off a connection that still owes an answer, and the pool takes it back no more.
        if (error instanceof StoreUnavailableError && !answered) void this.end();
        throw error;
      }
    }
  };
}

/** The same, and the observer is told how long every statement takes. */
export function observedClient(Client: typeof pg.Client, observer: Observer): typeof pg.Client {
  return class extends Client {
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    override async query(...statement: [any, ...any[]]): Promise<any> {
      return timed(observer, 'postgres', 'query', super.query(...statement));
    }
  };
}

export function createPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options);
  // Without listeners, a connection that is lost while nothing is asked on it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * SQLSTATE classes that speak of the server and not of the statement: connection, authorization, the database itself,
 * a transaction that was ended or has to be tried again, resources, an operator's doing, the system.
 */
const UNAVAILABLE = /^(08|28|3D|40|53|57|58)|^(25006|25P0[34]|55P03)$/;

/** What is no answer of the server's is a failure on the way to it. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? UNAVAILABLE.test(error.code ?? '') : !(error instanceof TypeError);
}
