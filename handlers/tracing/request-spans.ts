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
import { createAddressSet, includesAddress } from '../addresses.js';
import type { Config } from '../config/index.js';
import type { SpanParent } from './store-spans.js';

/*
 * Creates a server span for each request. Spans follow the OpenTelemetry conventions for HTTP, but omit `url.path` and all
 * other attributes whose values a client chooses.
 *
 * A `traceparent` header from a trusted proxy continues the trace of the proxy. Other clients could set its sampled flag,
 * or choose ids that a sampler accepts, and so cause every request to be exported. Their requests therefore start new
 * traces, with a link to the span of the client.
 */

/** The methods that the conventions define. All others are reported as `_OTHER`. */
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

/** Creates a span for each request of a server. Adds the ids of the span to the log lines of the request. */
export function traceRequests(
  server: FastifyInstance,
  { publicUrl, trustProxy }: Config,
  tracer: Tracer,
  runRequest: (parent: SpanParent | undefined, run: () => void) => void,
): void {
  const proxies = createAddressSet(trustProxy);
  // Taken from the public URL, because clients choose the Host header.
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
    const remote = remoteContextOf(request);
    const isTrusted = includesAddress(proxies, request.raw.socket.remoteAddress ?? '');
    const links: Link[] = remote && !isTrusted ? [{ context: remote }] : [];
    const parent = remote && isTrusted ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
    const name = config?.operation?.id ?? [method === '_OTHER' ? 'HTTP' : method, route].filter(Boolean).join(' ');
    return tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes, links }, parent);
  }

  server.addHook('onRequest', (request, reply, done) => {
    const timeOriginMs = Date.now() - performance.now();
    const span = startSpan(request, timeOriginMs + performance.now());
    const { traceId, spanId, traceFlags } = span.spanContext();
    // Each request has a logger of its own, so this affects only its log lines.
    (request.log as Logger).setBindings({
      trace_id: traceId,
      span_id: spanId,
      trace_flags: traceFlags.toString(16).padStart(2, '0'),
    });
    if (!span.isRecording()) return runRequest(undefined, done);
    // Unlike an onResponse hook, this listener also runs when the client disconnects.
    reply.raw.once('close', () => {
      const { attributes, isError } = resultOf(reply);
      span.setAttributes(attributes);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(timeOriginMs + performance.now());
    });
    runRequest({ context: trace.setSpan(ROOT_CONTEXT, span), timeOriginMs }, done);
  });
}

/** Returns the span context of the `traceparent` header, if there is a valid one. */
function remoteContextOf({ headers: { traceparent } }: FastifyRequest): SpanContext | undefined {
  const parsed = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
  return parsed ? { ...parsed, isRemote: true } : undefined;
}

/** Returns how the request ended, as attributes of its span. */
function resultOf({ raw: { writableFinished, statusCode } }: FastifyReply) {
  if (!writableFinished) return { attributes: { 'error.type': 'connection_closed' }, isError: false };
  const isError = statusCode >= 500;
  return {
    attributes: { 'http.response.status_code': statusCode, ...(isError && { 'error.type': String(statusCode) }) },
    isError,
  };
}
