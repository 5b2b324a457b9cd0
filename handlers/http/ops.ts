import Fastify, { type FastifyInstance } from 'fastify';
import type { StoreName } from '../../db/support/errors.js';
import type { Metrics } from './metrics.js';
import { withTimeout } from './timeout.js';

/** Checks by store name. A check rejects if its store is unavailable. */
export type HealthChecks = Readonly<Partial<Record<StoreName, () => Promise<unknown>>>>;

export interface OpsServer {
  server: FastifyInstance;
  /** Makes `/readyz` report that the service is stopping. */
  drain(): void;
}

/** The timeout of one check. Orchestrators usually time out after a few seconds. */
const CHECK_TIMEOUT_MS = 2500;

/** The service is ready without these stores. */
const OPTIONAL_STORES: ReadonlySet<string> = new Set<StoreName>(['redis']);

/**
 * Builds the server for operators and orchestrators, which has its own port: `/livez` for the process, `/readyz` for its
 * stores, and `/metrics`.
 */
export function buildOpsServer(checks: HealthChecks, metrics: Metrics): OpsServer {
  const server = Fastify({ logger: false });
  let draining = false;

  server.get('/livez', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_, reply) => {
    const results = await Promise.all(Object.entries(checks).map(runCheck));
    const ready = !draining && results.every(([name, { ok }]) => ok || OPTIONAL_STORES.has(name));
    const status = draining ? 'stopping' : ready ? 'ok' : 'unavailable';
    return reply.code(ready ? 200 : 503).send({ status, stores: Object.fromEntries(results) });
  });

  server.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()));

  return {
    server,
    drain() {
      draining = true;
    },
  };
}

async function runCheck([name, check]: [string, () => Promise<unknown>]) {
  const startedAt = performance.now();
  const ok = await withTimeout(CHECK_TIMEOUT_MS, check()).then(
    () => true,
    () => false,
  );
  return [name, { ok, ms: Math.round(performance.now() - startedAt) }] as const;
}
