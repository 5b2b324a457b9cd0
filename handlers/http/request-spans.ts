import {
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config/index.js';
import type { SpanParent } from '../tracing/store-spans.js';
import { blockListOf, isListed } from './connections.js';

/*
 * A server span for each request, by OpenTelemetry's conventions for HTTP, without `url.path` and everything else that a client
 * may choose.
 *
 * The trace of a `traceparent` header is continued if it comes from a trusted proxy. Anyone else could set the sampled flag, or
 * choose ids that a sampler accepts, and so have every request exported. Their requests get traces of their own, with a link to
 * the client's span.
 */

/** The methods that the conventions know. Any other is reported as `_OTHER`. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/** Creates a span for each request of a server, and adds its ids to the log lines of the request. */
export function traceRequests(
  server: FastifyInstance,
  { publicUrl, trustProxy }: Config,
  tracer: Tracer,
  runRequest: (parent: SpanParent | undefined, run: () => void) => void,
): void {
  const proxies = blockListOf(trustProxy);
  // Of the public URL, because clients choose the Host header.
  const serverAttributes = {
    'url.scheme': publicUrl.protocol.slice(0, -1),
    'server.address': publicUrl.hostname,
    'server.port': Number(publicUrl.port) || (publicUrl.protocol === 'https:' ? 443 : 80),
  };

  function startSpan(request: FastifyRequest, startTime: number) {
    const { url: route, config } = request.routeOptions;
    const method = METHODS.has(request.method) ? request.method : '_OTHER';
    const attributes = {
      'http.request.method': method,
      ...(route !== undefined && { 'http.route': route }),
      'network.protocol.version': request.raw.httpVersion,
      ...serverAttributes,
    };
    const caller = callerOf(request);
    const isTrusted = isListed(proxies, request.raw.socket.remoteAddress ?? '');
    const links: Link[] = caller && !isTrusted ? [{ context: caller }] : [];
    const parent = caller && isTrusted ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT;
    const name = config?.operation?.id ?? [method === '_OTHER' ? 'HTTP' : method, route].filter(Boolean).join(' ');
    return tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes, links }, parent);
  }

  server.addHook('onRequest', (request, reply, done) => {
    const timeOriginMs = Date.now() - performance.now();
    const span = startSpan(request, timeOriginMs + performance.now());
    const { traceId, spanId, traceFlags } = span.spanContext();
    // Fastify creates a logger for each request.
    (request.log as Logger).setBindings({
      trace_id: traceId,
      span_id: spanId,
      trace_flags: traceFlags.toString(16).padStart(2, '0'),
    });
    if (!span.isRecording()) return runRequest(undefined, done);
    // Unlike onResponse hooks, it also runs when the client disconnects.
    reply.raw.once('close', () => {
      const { attributes, isError } = resultOf(reply);
      span.setAttributes(attributes);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(timeOriginMs + performance.now());
    });
    runRequest({ context: trace.setSpan(ROOT_CONTEXT, span), timeOriginMs }, done);
  });
}

/** Returns the span context of a valid `traceparent` header. */
function callerOf({ headers: { traceparent } }: FastifyRequest): SpanContext | undefined {
  const parsed = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
  return parsed ? { ...parsed, isRemote: true } : undefined;
}

function resultOf({ raw: { writableFinished, statusCode } }: FastifyReply) {
  if (!writableFinished) return { attributes: { 'error.type': 'connection_closed' }, isError: false };
  const isError = statusCode >= 500;
  return {
    attributes: { 'http.response.status_code': statusCode, ...(isError && { 'error.type': String(statusCode) }) },
    isError,
  };
}
