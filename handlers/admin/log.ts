import type { FastifyInstance } from 'fastify';
import { readLog } from '../../db/operator-log.js';
import type { OperatorLogRow } from '../../db/schema.js';
import { type AdminContext, bodyWith, schemas } from './action.js';
import { findAccount, parseReference } from './references.js';

/** The bodies and responses of these routes, by their paths below `/admin`. */
export interface LogRoutes {
  'log/list': { Body: { account?: string; before?: number; limit: number }; Reply: OperatorLogRow[] };
}

export async function logRoutes(app: FastifyInstance, { db }: AdminContext): Promise<void> {
  const { reference: account, id: before, limit } = schemas;
  app.post<LogRoutes['log/list']>(
    '/log/list',
    { schema: bodyWith({ account, before, limit }, ['limit']) },
    async ({ body: { account, before, limit } }) => {
      if (account === undefined) return readLog(db, { before, limit });
      // An id may be that of a deleted account.
      const by = parseReference(account);
      const { id } = by && 'id' in by ? by : await findAccount(db, account);
      return readLog(db, { account: id, before, limit });
    },
  );
}
