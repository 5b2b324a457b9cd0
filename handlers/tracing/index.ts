import { DiagLogLevel, diag } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Observer } from '../../db/support/observer.js';
import { withTimeout } from '../../db/support/timeout.js';
import type { Config } from '../config/index.js';
import { traceRequests } from './request-spans.js';
import { createStoreSpans } from './store-spans.js';

/*
 * OpenTelemetry traces: a span for each request, with spans for its store calls and batches. This module is loaded only if an
 * endpoint is configured. The SDK reads the OTEL_ environment variables itself.
 *
 * Spans contain only names from the code and the contract, numbers, statuses, and the address of `PUBLIC_URL`. They never
 * contain ids, paths, queries, headers or error messages, because those may identify people.
 */

const SERVICE_NAME = 'social-posting-service';

/** How long the service waits at shutdown for the export of the last spans. */
const FLUSH_TIMEOUT_MS = 2000;

export interface Tracing {
  /** An observer of the stores that creates spans, and passes the measurements on to the metrics. */
  observer: Observer;
  /** Adds the hooks that create a span for each request. */
  traceRequests(server: FastifyInstance): void;
  /** Exports the remaining spans. Gives up after a timeout. */
  close(): Promise<void>;
}

export function startTracing(config: Config, log: Logger, metrics: Observer): Tracing {
  const provider = createProvider(log);
  const tracer = provider.getTracer(SERVICE_NAME);
  const { stores, redis } = config;
  const { observer, runRequest } = createStoreSpans(tracer, metrics, {
    postgres: 'postgresql',
    ...(stores.neo4j && { graph: 'neo4j' }),
    ...(stores.s3 && { images: 's3' }),
    ...(redis && { redis: 'redis' }),
  });
  return {
    observer,
    traceRequests: (server) => traceRequests(server, config, tracer, runRequest),
    close: () => withTimeout(FLUSH_TIMEOUT_MS, provider.shutdown()).catch(() => undefined),
  };
}

/** Creates the provider from the OTEL_ variables. If a variable is invalid, the SDK logs a warning and uses its default. */
function createProvider(log: Logger): BasicTracerProvider {
  const warn = (message: string) => log.warn(message);
  const ignore = () => undefined;
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportOutages(new OTLPTraceExporter(), log))],
  });
  // Without this, the SDK would log every failed export from now on.
  diag.disable();
  return provider;
}

/** Wraps an exporter. Logs the start and the end of an outage of the receiver, but not each failed export. */
function reportOutages(exporter: SpanExporter, log: Logger): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !failing) log.warn({ err: result.error }, 'traces cannot be exported');
        if (!failed && failing) log.info('traces are exported again');
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
