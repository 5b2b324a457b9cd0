import Fastify, { type FastifyInstance } from 'fastify';
import type { StoreName } from '../../db/support/errors.js';
import { withDeadline } from './deadline.js';
import type { Metrics } from './metrics.js';

/** Whether each store answers, by name. */
export type Checks = Readonly<Partial<Record<StoreName, () => Promise<unknown>>>>;

export interface OpsServer {
  server: FastifyInstance;
  /** From now on the service says that it is not ready. */
  drain(): void;
}

/** How long a store may take to answer, in milliseconds: whoever asks gives up soon as well. */
const CHECK_TIMEOUT_MS = 2500;

/** Without these every operation goes on. */
const OPTIONAL_CHECKS: ReadonlySet<string> = new Set<StoreName>(['redis']);

/**
 * What operators and orchestrators ask, on a port of its own: `/livez` for the process, `/readyz` for its stores, and
 * `/metrics`.
 */
export function buildOpsServer(checks: Checks, metrics: Metrics): OpsServer {
  const server = Fastify({ logger: false });
  let draining = false;

  server.get('/livez', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_, reply) => {
    const asked = await Promise.all(Object.entries(checks).map(time));
    const ready = !draining && asked.every(([name, { ok }]) => ok || OPTIONAL_CHECKS.has(name));
    const status = draining ? 'stopping' : ready ? 'ok' : 'unavailable';
    return reply.code(ready ? 200 : 503).send({ status, stores: Object.fromEntries(asked) });
  });

  server.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()));

  return {
    server,
    drain() {
      draining = true;
    },
  };
}

async function time([name, check]: [string, () => Promise<unknown>]) {
  const started = performance.now();
  const ok = await withDeadline(CHECK_TIMEOUT_MS, check()).then(
    () => true,
    () => false,
  );
  return [name, { ok, ms: Math.round(performance.now() - started) }] as const;
}
