import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Observer } from '../../db/support/observer.js';
import type { Config } from '../config/index.js';
import { traceRequests } from '../http/request-spans.js';
import { withTimeout } from '../http/timeout.js';
import { reportOutages } from './exporter.js';
import { createStoreSpans } from './store-spans.js';

/*
 * OpenTelemetry traces: a span for each request, with spans for its store calls and batches. Loaded only if an endpoint is
 * configured. The SDK reads all other OTEL_ variables itself.
 *
 * Spans contain names from the code and the contract, numbers and statuses: never an id, a path, a query, a header or the text
 * of an error, because those may identify people.
 */

const SERVICE_NAME = 'social-posting-service';

/** How long a shutdown waits for the export of the last spans. */
const FLUSH_TIMEOUT_MS = 2000;

export interface Tracing {
  /** Creates spans, and passes the measurements to the metrics. */
  observer: Observer;
  /** Adds the hooks that create a span for each request. */
  traceRequests(server: FastifyInstance): void;
  /** Exports the remaining spans, unless that takes too long. */
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

/** Creates the provider from the OTEL_ variables. Invalid ones cause a warning, and the SDK uses their defaults. */
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
  // From here on the SDK would log every failed export.
  diag.disable();
  return provider;
}
