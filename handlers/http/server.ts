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
import { registerBodyParser } from './bodies.js';
import { respondToClientError } from './client-errors.js';
import { connectionLimits, limitConnections } from './connections.js';
import { registerCors } from './cors.js';
import { isCrossSite } from './cross-site.js';
import { type ContractDocument, registerDocs } from './docs.js';
import { respondToError } from './error-handler.js';
import { badRequest, notFound, unavailable } from './errors.js';
import { limitDrain } from './limit-drain.js';
import { createLimits } from './limits.js';
import { trackMethods } from './methods.js';
import type { Metrics } from './metrics.js';
import { registerOperations } from './operations.js';
import { oneAtATime } from './pipelining.js';
import { isRepeated } from './raw-headers.js';
import { createResponseBudget } from './response-budget.js';
import { startSweep } from './sweep.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** On the routes of the document and its explorer, which count in no limit. */
    unlimited?: boolean;
  }
}

/** What is answered is one user's own, and is what it is declared to be. A route may say otherwise. */
const DEFAULT_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** How long a request may take to arrive, in milliseconds: the largest upload over a slow line. */
const REQUEST_TIMEOUT_MS = 300_000;

/** Longer than the idle timeouts of common proxies, 60 seconds, so that they close a connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const NO_HOST = { in: 'header', field: 'Host', message: 'is required' } as const;
const TWO_HOSTS = { in: 'header', field: 'Host', message: 'must be given once' } as const;
const NOT_DECODED = { in: 'path', field: '', message: 'cannot be decoded' } as const;

/** As the Fetch standard has it. */
const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Longer than any path can be within Node's limit for the head of a request. */
const MAX_PARAMETER_LENGTH = 16 * 1024;

/** An address that is none, and stands for a URL that cannot be decoded. */
const UNDECODABLE = '/undecodable';

/** What the server needs besides what handlers may use. */
interface Parts {
  document: ContractDocument;
  metrics: Metrics;
  redis: RedisConnection | undefined;
}

/** Builds the API's server: every hook in the order in which the contract has answers given. */
export async function buildServer(context: AppContext, { document, metrics, redis }: Parts): Promise<FastifyInstance> {
  const { config, log, publicUrl } = context;
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
      // Without a Host header Node would answer in a shape of its own.
      createServer(
        { requireHostHeader: false, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
        oneAtATime(listener),
      ),
    // The router would answer before any hook has run.
    rewriteUrl: ({ url = '' }) => (isDecodable(url) ? url : UNDECODABLE),
  });

  server.addHook('onRoute', (route) => {
    // Fastify says how long the body of every HEAD would be, and 0 where there is none. A 304 may not (RFC 9110 section 8.6).
    if (route.method === 'HEAD') route.onSend = [...[route.onSend ?? []].flat(), withoutLengthOf304];
  });

  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
  });
  server.addHook('onSend', (_, reply, payload, done) => {
    // Else the server would wait for a client that has its answer and keeps the connection.
    if (closing) reply.header('Connection', 'close');
    done(null, payload);
  });
  // With a callback: a promise for each would take a twentieth of what a page of posts takes.
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'X-Request-Id': request.id, ...DEFAULT_HEADERS });
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    limitDrain(request.raw);
    const { operation } = request.routeOptions.config ?? {};
    metrics.request(operation?.id ?? 'none', reply.statusCode, reply.elapsedTime / 1000);
    // A flood must not fill the disk: the first of them is logged as a security event.
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
    throw url === originalUrl ? notFound() : badRequest([NOT_DECODED]);
  });

  await registerCors(server, config);
  const trustedOrigins = new Set([...config.corsOrigins, publicUrl.origin]);
  const limit = await createLimits(server, config, redis);
  server.addHook('onRequest', async (request, reply) => {
    const { operation, unlimited } = request.routeOptions.config ?? {};
    const tooLate = closing;
    if (!unlimited && !isPreflight(request)) {
      const bucket = isCrossSite(request, trustedOrigins) ? 'cross-site' : (operation?.rateLimit ?? 'general');
      await limit(request, reply, bucket);
    }
    if (tooLate) throw unavailable('The service is stopping.');
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw badRequest([NO_HOST]);
    if (isRepeated(request.raw, 'host')) throw badRequest([TWO_HOSTS]);
  });

  const budget = createResponseBudget();
  const connections = limitConnections(server.server, await connectionLimits(), config.trustProxy);
  metrics.watchHttp({ connections, responses: budget.usage });
  const stopSweep = startSweep(connections.open);
  server.addHook('onClose', async () => stopSweep());

  const closeMethods = trackMethods(server);
  await server.register(cookie);
  registerBodyParser(server);
  await registerDocs(server, document, budget);
  await registerOperations(server, document.parsed, context, trustedOrigins, budget);
  closeMethods();
  // RFC 9110 section 10.1.1 lets an expectation that we do not know be ignored; Node alone would refuse it without a body.
  server.server.on('checkExpectation', (request, response) => server.server.emit('request', request, response));
  return server;
}

const withoutLengthOf304: onSendHookHandler = (_, reply, payload, done) => {
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
