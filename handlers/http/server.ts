import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { App } from '../app.js';
import { registerBodyParser } from './bodies.js';
import { answerClientError } from './client-errors.js';
import { registerCors } from './cors.js';
import { type ContractDocument, registerDocs } from './docs.js';
import { answerError } from './error-handler.js';
import { notFound, unavailable } from './errors.js';
import { createLimits } from './limits.js';
import { trackMethods } from './methods.js';
import { registerOperations } from './operations.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** On the routes of the document and its explorer, which count in no limit. */
    unlimited?: boolean;
  }
}

/** What is answered is one caller's own, and is what it is declared to be. A route may say otherwise. */
const DEFAULT_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** How long a request may take to arrive, in milliseconds: the largest upload over a slow line. */
const REQUEST_TIMEOUT = 300_000;

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** Longer than any path can be within Node's limit for the head of a request. */
const LONGEST_PARAMETER = 16 * 1024;

/** Builds the API's server: every hook in the order in which the contract has answers given. */
export async function buildServer(app: App, document: ContractDocument): Promise<FastifyInstance> {
  const { config, log, publicUrl } = app;
  const server: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    trustProxy: config.trustProxy.length > 0 ? [...config.trustProxy] : false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    requestTimeout: REQUEST_TIMEOUT,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerClientError,
    frameworkErrors: answerFrameworkError,
  });

  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
  });
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'X-Request-Id': request.id, ...DEFAULT_HEADERS });
  });
  server.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
  });

  const limit = await createLimits(server, config);
  const count = async (request: FastifyRequest, reply: FastifyReply) => {
    const { operation, unlimited } = request.routeOptions.config ?? {};
    if (unlimited || isPreflight(request)) return;
    await limit(request, reply, operation?.rateLimit ?? 'general');
  };
  server.addHook('onRequest', async (request, reply) => {
    await count(request, reply);
    if (closing) throw unavailable('The service is stopping.');
  });

  server.setErrorHandler(answerError);
  server.setNotFoundHandler(async () => {
    throw notFound();
  });
  async function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply) {
    reply.headers({ 'X-Request-Id': request.id, ...DEFAULT_HEADERS });
    // No hook runs for a URL that cannot be decoded.
    const exceeded = await count(request, reply).catch((reason) => reason);
    return answerError(exceeded ?? error, request, reply);
  }

  await registerCors(server, config);
  const closeMethods = trackMethods(server);
  await server.register(cookie);
  registerBodyParser(server);
  await registerDocs(server, document);
  await registerOperations(server, document.parsed, app, new Set([...config.corsOrigins, publicUrl.origin]));
  closeMethods();
  return server;
}
