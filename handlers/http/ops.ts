import { isIP } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import type { StoreName } from '../../db/support/errors.js';
import { withTimeout } from '../../db/support/timeout.js';
import { isLoopback } from '../addresses.js';
import { notFound } from '../errors.js';
import type { Metrics } from '../metrics/index.js';
import { COMMIT, VERSION } from '../version.js';
import { respondToClientError } from './client-errors.js';
import { createErrorHandler } from './error-handler.js';
import { trackMethods } from './methods.js';

/** The health checks, by store name. A check rejects if its store is unavailable. */
export type HealthChecks = Readonly<Partial<Record<StoreName, () => Promise<unknown>>>>;

/** By store name: whether the store passed its health check, how long the check took, and why it failed. */
type StoreStates = Readonly<Record<string, { ok: boolean; ms: number; reason?: string }>>;

interface OpsServer {
  server: FastifyInstance;
  /** Makes `/readyz` respond with 503, because the service is stopping. */
  drain(): void;
}

const BUILD = { version: VERSION, commit: COMMIT };

/** The timeout of one check. It is short, because orchestrators usually time out after a few seconds. */
const CHECK_TIMEOUT_MS = 2500;

/** The service counts as ready even if these stores are unavailable. */
const OPTIONAL_STORES: ReadonlySet<string> = new Set<StoreName>(['redis']);

/**
 * Builds the server for operators and orchestrators, which has a port of its own. `/livez` reports whether the process is
 * alive, `/readyz` whether its stores are available, and `/metrics` returns the metrics. Errors have the same format as
 * those of the API.
 *
 * `/readyz?exclude=graph` does not check a store. `exclude` can be repeated. The Kubernetes API server has the same parameter. A
 * load balancer should exclude every store that all processes share. Otherwise an outage of such a store would take all processes
 * out of service, and a slow store would delay the response.
 *
 * @param host the address on which the server will listen
 */
export function buildOpsServer(
  checks: HealthChecks,
  metrics: Pick<Metrics, 'contentType' | 'text'>,
  log: Logger,
  host: string,
): OpsServer {
  const server: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: respondToClientError,
    // Otherwise a client that sends no request would prevent the shutdown.
    forceCloseConnections: true,
  });
  server.setErrorHandler(createErrorHandler());
  server.setNotFoundHandler(async () => {
    throw notFound();
  });
  if (isLoopback(host))
    server.addHook('onRequest', async ({ headers }, reply) => {
      if (isLocalName(headers.host ?? '')) return;
      const message = 'Use an IP address or a host name without a dot.';
      return reply.code(421).send({ code: 'misdirected_request', message });
    });
  const addRoutesForOtherMethods = trackMethods(server);
  let draining = false;

  server.get('/livez', async () => ({ status: 'ok' }));

  server.get<{ Querystring: { exclude?: string | string[] } }>('/readyz', async ({ query }, reply) => {
    // Without checks, so that a load balancer learns it immediately.
    if (draining) return reply.code(503).send({ status: 'stopping', ...BUILD, stores: {} });
    const excluded = [query.exclude ?? []].flat();
    const included = Object.entries(checks).filter(([name]) => !excluded.includes(name));
    const stores = await readStoreStates(Object.fromEntries(included));
    const ready = Object.entries(stores).every(([name, { ok }]) => ok || OPTIONAL_STORES.has(name));
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'unavailable', ...BUILD, stores });
  });

  server.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  addRoutesForOtherMethods();

  return {
    server,
    drain() {
      draining = true;
    },
  };
}

/**
 * Returns whether a client on this machine may have sent this `Host`. A web page can make its own host name lead to a loopback
 * address (DNS rebinding), and would then read the metrics through a browser on this machine. Such a name contains a dot. On
 * any other address, clients may know the server by any name.
 */
function isLocalName(header: string): boolean {
  const url = `http://${header}`;
  const name = URL.canParse(url) ? new URL(url).hostname : '';
  return !name.includes('.') || isIP(name) !== 0;
}

/** Runs all health checks at the same time. */
export const readStoreStates = async (checks: HealthChecks): Promise<StoreStates> =>
  Object.fromEntries(await Promise.all(Object.entries(checks).map(readStoreState)));

async function readStoreState([name, check]: [string, () => Promise<unknown>]) {
  const startedAt = performance.now();
  const outcome = await withTimeout(CHECK_TIMEOUT_MS, check()).then(
    () => ({ ok: true }),
    (error: Error) => ({ ok: false, reason: error.message }),
  );
  return [name, { ...outcome, ms: Math.round(performance.now() - startedAt) }] as const;
}
