import { finished, Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { countAction } from '../../db/admin/accounts.js';
import type { AppContext } from '../context.js';
import { logSecurityEvent } from '../security/events.js';

/* What the actions of the operator have in common. */

export type AdminContext = Pick<AppContext, 'db' | 'graph' | 'images' | 'outbox' | 'log'>;

/** An action was given something that it cannot use, such as the name of an account that does not exist. */
export class AdminInputError extends Error {
  override readonly name = 'AdminInputError';
  readonly code = 'admin_input';
  readonly statusCode = 400;
}

export const id = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** Creates the schema of a body that is an object with these fields. */
export const bodyWith = (fields: Record<string, object>, required = Object.keys(fields)) => ({
  body: { type: 'object', properties: fields, required, additionalProperties: false },
});

/** Logs and counts a change. It was made, so that a failure to count it does not fail the action. */
export async function recordChange(
  { db, log }: AdminContext,
  { url }: FastifyRequest,
  event: Parameters<typeof logSecurityEvent>[1],
  ids: { accountId?: number; postId?: number },
): Promise<void> {
  const command = url.replace('/admin/', '').replace('/', ' ');
  logSecurityEvent(log, event, { ...ids, command });
  await countAction(db).catch((err) => log.warn({ err }, 'action of the operator not counted'));
}

/** Returns an archive to send. If it fails, Fastify closes the connection, so that the client does not take it for complete. */
export function streamArchive(archive: AsyncGenerator<Uint8Array>, { url, log }: FastifyRequest): Readable {
  const stream = Readable.from(archive, { objectMode: false });
  finished(stream, (err) => {
    if (err) log.warn({ err }, `${url} failed`);
  });
  return stream;
}
