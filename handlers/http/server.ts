import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type onSendHookHandler,
} from 'fastify';
import type { RedisConnection } from '../../db/redis.js';
import type { AppContext } from '../context.js';
import type { Tracing } from '../tracing/index.js';
import { limitDrain, registerBodyParser } from './bodies.js';
import { respondToClientError } from './client-errors.js';
import { limitConnections, readConnectionLimits } from './connections.js';
import { registerCors } from './cors.js';
import { isFromUntrustedOrigin } from './cross-site.js';
import { type ContractDocument, registerDocs } from './docs/index.js';
import { respondToError } from './error-handler.js';
import { badRequest, notFound, reason, shuttingDown } from './errors.js';
import { startEarly } from './execution.js';
import { createRateLimiter } from './limits.js';
import { trackMethods } from './methods.js';
import type { Metrics } from './metrics.js';
import { registerOperations } from './operations.js';
import { oneAtATime } from './pipelining.js';
import { isRepeated } from './raw-headers.js';
import { createResponseBudget } from './response-budget.js';
import { startSlowReaderSweep } from './sweep.js';

/*
 * The API server. Every response, including errors of Node and Fastify, has the contract's shape. The stages of a request:
 *
 * 1. `oneAtATime` holds back pipelined requests; `rewriteUrl` replaces a URL that cannot be decoded.
 * 2. onRequest hooks, in order: default headers; CORS; cookies; rate limit (429), shutdown (503) and Host header (400); the
 *    normalization of malformed media types. While the request is counted, stores are already read (see execution.ts).
 * 3. The route's own onRequest hook: authentication (401) and cross-site check (403), or the response to a method that the path
 *    does not support (405).
 * 4. The body parser, then the handler, which validates the input (400, 404, 413, 415) and runs the operation.
 * 5. onSend closes the connection during shutdown; onResponse limits the draining of the body, and records metrics and a log
 *    line.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the routes of the document and its explorer, which are not rate limited. */
    unlimited?: boolean;
  }
}

/** Responses are private and must not be sniffed for another type. A route may override these headers. */
const DEFAULT_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** How long a request may take to arrive: enough for the largest upload over a slow line. */
const REQUEST_TIMEOUT_MS = 300_000;

/** Longer than the idle timeout of common proxies (60 seconds), so that the proxy closes an idle connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const HOST_MISSING = { in: 'header', field: 'Host', ...reason('required') } as const;
const HOST_REPEATED = { in: 'header', field: 'Host', ...reason('repeated') } as const;
const URL_UNDECODABLE = {
  in: 'path',
  field: '',
  ...reason('invalid_encoding', 'must be percent-encoded UTF-8'),
} as const;

/** Returns whether a request is a CORS preflight, as the Fetch standard defines it. */
const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** No parameter is longer: this is Node's limit for the request line and headers together. */
const MAX_PARAMETER_LENGTH = 16 * 1024;

/** A path without a route. URLs that cannot be decoded are rewritten to it. */
const UNDECODABLE_PATH = '/undecodable';

/** Dependencies of the server that handlers do not use. */
interface ServerDependencies {
  document: ContractDocument;
  metrics: Metrics;
  redis: RedisConnection | undefined;
  /** Defined only if traces are exported. */
  tracing?: Pick<Tracing, 'traceRequests'> | undefined;
}

/** Builds the API server. */
export async function buildServer(
  context: AppContext,
  { document, metrics, redis, tracing }: ServerDependencies,
): Promise<FastifyInstance> {
  const { config, log } = context;
  const server: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: respondToClientError,
    serverFactory: (listener) =>
      // Node's own response to a missing Host header is not in the contract's shape.
      createServer(
        { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
        oneAtATime(listener),
      ),
    // The router would respond to an undecodable URL before any hook runs.
    rewriteUrl: ({ url = '' }) => (isDecodable(url) ? url : UNDECODABLE_PATH),
  });

  server.addHook('onRoute', (route) => {
    // Fastify sends Content-Length: 0 with a HEAD response without a body. A 304 must not have it (RFC 9110 section 8.6).
    if (route.method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), removeLengthOf304];
  });

  // Before all other hooks: the span of a request includes them.
  tracing?.traceRequests(server);
  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
  });
  server.addHook('onSend', (_, reply, payload, done) => {
    // Otherwise the shutdown would wait for clients that keep their connections open.
    if (closing) reply.header('Connection', 'close');
    done(null, payload);
  });
  // Callbacks, not async functions: the promises would add about 5% to the time of a request for posts.
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'X-Request-Id': request.id, ...DEFAULT_HEADERS });
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    limitDrain(request.raw);
    const { operation } = request.routeOptions.config ?? {};
    metrics.recordRequest(operation?.id ?? 'none', reply.statusCode, reply.elapsedTime / 1000);
    // A flood must not fill the disk with log lines. The first refusal has been logged as a security event.
    if (request.throttled) return done();
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
    done();
  });

  server.setErrorHandler(respondToError);
  server.setNotFoundHandler(async ({ url, originalUrl }) => {
    throw url === originalUrl ? notFound() : badRequest([URL_UNDECODABLE]);
  });

  await registerCors(server, config);
  await server.register(cookie);
  const trustedOrigins = new Set([...config.corsOrigins, config.publicUrl.origin]);
  const rateLimiter = await createRateLimiter(server, config, redis);
  server.addHook('onRequest', async (request, reply) => {
    const { operation, unlimited } = request.routeOptions.config ?? {};
    // A request that arrived before the shutdown is still served, and so is the first one of an accepted connection.
    const isTooLate = closing && request.raw.socket.bytesWritten > 0;
    if (!unlimited && !isPreflight(request)) {
      const bucket = isFromUntrustedOrigin(request, trustedOrigins)
        ? 'cross-site'
        : (operation?.rateLimit ?? 'general');
      if (operation && !isTooLate && !rateLimiter.hasRefused(request, bucket)) {
        startEarly(operation, request, reply, context);
      }
      await rateLimiter.count(request, reply, bucket);
    }
    if (isTooLate) throw shuttingDown();
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw badRequest([HOST_MISSING]);
    if (isRepeated(request.raw, 'host')) throw badRequest([HOST_REPEATED]);
  });

  const budget = createResponseBudget();
  const connections = limitConnections(server.server, await readConnectionLimits(), config.trustProxy);
  metrics.watchHttp({ connections, responses: budget.usage });
  const stopSweep = startSlowReaderSweep(connections.open);
  server.addHook('onClose', async () => stopSweep());

  const addMissingMethods = trackMethods(server);
  registerBodyParser(server);
  await registerDocs(server, document, budget);
  await registerOperations(server, document.parsed, context, trustedOrigins, budget);
  addMissingMethods();
  // Ignores unknown expectations (RFC 9110 section 10.1.1 allows it). Node would respond with a 417 that has no body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  return server;
}

const removeLengthOf304: onSendHookHandler = (_, reply, payload, done) => {
  if (reply.statusCode === 304) reply.removeHeader('Content-Length');
  done(null, payload);
};

function isDecodable(url: string): boolean {
  try {
    return !url.includes('%') || decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '') !== '';
  } catch {
    return false;
  }
}
