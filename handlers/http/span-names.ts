import { trace } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';

/**
 * Names the span of each request after its operation, and adds the request's id, if an operator runs the service with
 * OpenTelemetry (see `.github/OPERATING.md`). Without it, the API does nothing.
 */
export function nameSpans(server: FastifyInstance): void {
  server.addHook('onRequest', ({ id, routeOptions }, _reply, done) => {
    const span = trace.getActiveSpan();
    const { operation } = routeOptions.config;
    if (operation) span?.updateName(operation.id);
    span?.setAttribute('request.id', id);
    done();
  });
}
