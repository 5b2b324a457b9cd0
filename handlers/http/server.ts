import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type onSendHookHandler,
} from 'fastify';
import type { RedisConnection } from '../../db/redis/index.js';
import type { AppContext } from '../context.js';
import { ERROR_STATUSES } from '../error-codes.js';
import { badRequest, fieldProblem, notFound, shuttingDown } from '../errors.js';
import type { Metrics } from '../metrics/index.js';
import { isDecodable } from '../percent-encoding.js';
import { acceptBodies } from './bodies.js';
import { limitDrain } from './body-bytes.js';
import { delayClose, refuseConnect, respondToClientError, respondToInvalidUrl } from './client-errors.js';
import { limitConnections } from './connections.js';
import { registerCors } from './cors.js';
import { isFromUntrustedOrigin } from './cross-site.js';
import { type ContractDocument, registerDocs } from './docs/index.js';
import { createErrorHandler } from './error-handler.js';
import { createLogLimit } from './log-limit.js';
import { trackMethods } from './methods.js';
import { registerOperations } from './operations.js';
import { limitPipelining } from './pipelining.js';
import { createRateLimiter } from './rate-limits.js';
import { isRepeated } from './raw-headers.js';
import { createResponseBudget } from './response-budget.js';
import { startSlowReaderSweep } from './slow-readers.js';
import { nameSpans } from './span-names.js';

/*
 * The API server. Every response, including errors of Node and Fastify, has the format that the contract describes.
 *
 * A request passes these stages:
 *
 * 1. `limitPipelining` holds back pipelined requests. `rewriteUrl` replaces a URL that cannot be decoded.
 * 2. The onRequest hooks of the server run in this order: default headers; CORS; cookies; rate limit (429), shutdown (503)
 *    and Host header (400); normalization of malformed media types.
 * 3. The onRequest hook of the route runs: authentication (401), cross-site check and closed registration (403), or the response to a method
 *    that the path does not support (405).
 * 4. The handler reads the body and validates the input (400, 404, 413, 415), and runs the operation.
 * 5. During a shutdown, onSend tells the client to close the connection. If the body of the request is still arriving, onSend
 *    delays the close, so that the client receives the response, or leaves the body of an uncounted request unread. onResponse
 *    limits how much of an unread body is drained.
 * 6. When the response has been sent or its connection has closed, the request is recorded in the metrics and may be logged.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for the routes of the OpenAPI document and the explorer, which are not rate limited. */
    exemptFromRateLimit?: boolean;
  }
}

/** Responses must not be cached, and browsers must not guess their type. A route may override these headers. */
const DEFAULT_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** The maximum time that a request may take to arrive: enough for the largest upload over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000;

/** The idle timeout of connections. It is longer than that of common proxies (60 s), so that the proxy closes them first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** Returns whether a request is a CORS preflight, as the Fetch standard defines it. */
const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Returns whether a request counts towards a rate limit. */
const isCounted = (request: FastifyRequest) =>
  !request.routeOptions.config?.exemptFromRateLimit && !isPreflight(request);

/** Matches a valid Host header: a name or address, which may be empty, and an optional port (RFC 9110 section 7.2). */
const HOST = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i;

const mayLogUncounted = createLogLimit('uncounted requests omitted');

/** The maximum length of a path parameter. It equals Node's limit for the request line and headers, so it is never exceeded. */
const MAX_PARAMETER_LENGTH = 16 * 1024;

/** A path that has no route. URLs that cannot be decoded are rewritten to it. */
const UNDECODABLE_PATH = '/undecodable';

/** What the server needs besides the context of the handlers. */
interface ServerDependencies {
  document: ContractDocument;
  metrics: Metrics;
  redis: RedisConnection | undefined;
}

export async function buildServer(
  context: AppContext,
  { document, metrics, redis }: ServerDependencies,
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
    // Fastify calls this only for an invalid URL in absolute form, because `rewriteUrl` replaces all other invalid ones.
    frameworkErrors: respondToInvalidUrl as () => void,
    serverFactory: (listener) =>
      // Node's own response to a missing Host header does not have the format of the contract.
      createServer(
        { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
        limitPipelining(listener),
      ),
    // Without this, the router would respond to an undecodable URL before any hook runs.
    rewriteUrl: ({ url = '' }) => (hasDecodablePath(url) ? url : UNDECODABLE_PATH),
  });
  // Node 20 would ignore all headers after about the 1000th, including those that a proxy adds at the end and a second
  // Authorization header. Later versions would respond with 431. The total size of the headers is limited to 16 KiB anyway.
  server.server.maxHeadersCount = 0;

  server.addHook('onRoute', (route) => {
    if (route.method === 'HEAD') route.onSend = [destroyStream, ...[route.onSend ?? []].flat(), removeLengthOf304];
  });

  nameSpans(server);
  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    if (!raw.complete && isCounted(request)) {
      delayClose(raw.socket);
      // If nothing has read the body, Node would discard it without events, and `limitDrain` could not count its chunks.
      raw.resume();
    }
    // A client could keep the process busy with the body of an uncounted request. During a shutdown, it could keep its connection
    // open, and the shutdown would wait for it.
    if (closing || (!raw.complete && !isCounted(request))) reply.header('Connection', 'close');
    done(null, payload);
  });
  // Synchronous hooks take a callback, because promises would make a request for posts about 5% slower.
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'X-Request-Id': request.id, ...DEFAULT_HEADERS });
    // Unlike an onResponse hook, this listener also runs when the client disconnects.
    reply.raw.once('close', () => recordRequest(server, request, reply, metrics));
    done();
  });
  server.addHook('onResponse', ({ raw }, _reply, done) => {
    limitDrain(raw);
    done();
  });

  server.setErrorHandler(createErrorHandler(() => context.embedded?.freeSpace.isLow === true));
  server.setNotFoundHandler(async ({ url, originalUrl }) => {
    if (url === originalUrl) throw notFound();
    throw badRequest([fieldProblem('path', '', 'invalid_encoding', 'must be percent-encoded UTF-8')]);
  });

  await registerCors(server, config);
  await server.register(cookie);
  const trustedOrigins = new Set([...config.corsOrigins, config.publicUrl.origin]);
  const countRequest = await createRateLimiter(server, config, redis);
  server.addHook('onRequest', async (request, reply) => {
    if (isCounted(request)) {
      const isUntrusted = isFromUntrustedOrigin(request, trustedOrigins);
      const bucket = isUntrusted ? 'cross-site' : (request.routeOptions.config?.operation?.rateLimit ?? 'general');
      await countRequest(request, reply, bucket);
    }
    // The first request of a connection is still served, because its client could not know of the shutdown.
    if (closing && request.raw.socket.bytesWritten > 0) throw shuttingDown();
    const { host } = request.headers;
    if (host === undefined && request.raw.httpVersion === '1.1')
      throw badRequest([fieldProblem('header', 'Host', 'required')]);
    if (isRepeated(request.raw, 'host')) throw badRequest([fieldProblem('header', 'Host', 'repeated')]);
    if (host !== undefined && !HOST.test(host))
      throw badRequest([fieldProblem('header', 'Host', 'invalid_characters', 'must be a host with an optional port')]);
  });

  const budget = createResponseBudget();
  const imageBudget = createResponseBudget();
  const connections = limitConnections(server.server);
  metrics.watchConnections({ connections, responses: [budget.usage, imageBudget.usage] });
  const stopSweep = startSlowReaderSweep(connections);
  server.addHook('onClose', async () => stopSweep());

  const addRoutesForOtherMethods = trackMethods(server);
  await acceptBodies(server);
  await registerDocs(server, document, config.publicUrl, budget);
  await registerOperations(server, document.parsed, context, trustedOrigins, { budget, imageBudget });
  addRoutesForOtherMethods();
  server.server.on('connect', refuseConnect.bind(server));
  // Ignores unknown values of `Expect`, as RFC 9110 section 10.1.1 allows. Node would respond with a 417 without a body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  return server;
}

/** Records a request in the metrics, and logs it unless it may be part of a flood. */
function recordRequest(server: FastifyInstance, request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const { url, config } = request.routeOptions;
  const status = reply.raw.headersSent ? reply.statusCode : ERROR_STATUSES.client_closed_request;
  metrics.recordRequest(config?.operation?.id ?? 'none', status, reply.elapsedTime / 1000);
  // A flood must not fill the disk. Requests beyond a rate limit are therefore not logged here (the first one is a security
  // event), nor are requests whose client disconnects: a client can do so before its requests are refused.
  if (request.rateLimited || status === ERROR_STATUSES.client_closed_request) return;
  if (!isCounted(request) && !mayLogUncounted(server)) return;
  const ms = Math.round(reply.elapsedTime * 10) / 10;
  const accountId = request.user?.account.id;
  request.log.info({ method: request.method, route: url ?? null, status, ms, accountId }, 'request');
}

/** Destroys the stream of a HEAD response, which Fastify would otherwise read to its end. */
const destroyStream: onSendHookHandler = (_request, _reply, payload, done) => {
  if (payload instanceof Readable) payload.destroy();
  done(null, payload);
};

/** Removes the `Content-Length: 0` that Fastify adds to a HEAD response without a payload. In a 304, it would be wrong. */
const removeLengthOf304: onSendHookHandler = (_, reply, payload, done) => {
  if (reply.statusCode === 304) reply.removeHeader('Content-Length');
  done(null, payload);
};

const hasDecodablePath = (url: string) => !url.includes('%') || isDecodable(url.split(/[?#]/, 1)[0] ?? '');
