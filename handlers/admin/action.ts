import { finished, Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { OperatorAction } from '../../db/operator-log.js';
import type { AppContext } from '../context.js';

/* What the actions of the operator have in common. */

export type AdminContext = Pick<AppContext, 'db' | 'graph' | 'images' | 'outbox' | 'write' | 'log'>;

/** An action was given something that it cannot use, such as the name of an account that does not exist. */
export class AdminInputError extends Error {
  override readonly name = 'AdminInputError';
  readonly code = 'admin_input';
  readonly statusCode = 400;
}

/** What every body contains besides the fields of its action. Changes are logged with it. */
export type Signed = Omit<OperatorAction, 'command'>;

/** A text that PostgreSQL can store, of bounded length. */
const text = (maxLength: number) => ({ type: 'string', maxLength, pattern: '^[^\\x00]*$' });
const id = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** The schemas of fields. */
export const schemas = {
  text,
  id,
  limit: { ...id, minimum: 1 },
  /** An account or a post: see `references.ts`. A URL can be long. */
  reference: text(2000),
};

/** Creates the schema of a body that is an object with these fields. */
export const bodyWith = (fields: Record<string, object>, required = Object.keys(fields)) => ({
  body: {
    type: 'object',
    properties: { ...fields, operator: { ...text(100), minLength: 1 }, reason: text(1000) },
    required: [...required, 'operator'],
    additionalProperties: false,
  },
});

/** Returns the action of a request. */
export function actionOf({ url, body }: FastifyRequest): OperatorAction {
  const { operator, reason } = body as Signed;
  return { operator, reason, command: url.replace('/admin/', '').replace('/', ' ') };
}

/** Returns a file to send. If it fails, Fastify closes the connection, so that the client does not take it for complete. */
export function streamFile(bytes: AsyncIterable<Uint8Array>, { url, log }: FastifyRequest): Readable {
  const stream = Readable.from(bytes, { objectMode: false });
  finished(stream, (err) => {
    if (err) log.warn({ err }, `${url} failed`);
  });
  return stream;
}
