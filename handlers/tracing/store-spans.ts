import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { StoreName } from '../../db/support/errors.js';
import type { Observer } from '../../db/support/observer.js';

/*
 * Creates spans for store calls and batches. An AsyncLocalStorage contains the current request. It is unset outside of
 * requests and for requests that are not sampled, so no spans are created there.
 *
 * A batch serves several requests. Each request gets a span with the name of the batch, from its call to its result. The
 * spans of the batch's store calls belong to the trace of the first request. The batch spans of the other requests link to
 * that of the first request.
 */

/** The parent of the spans of store calls: a request, or a batch that serves it. */
export interface SpanParent {
  context: Context;
  /**
   * The number of milliseconds to add to `performance.now()` to get the time since 1970. All spans of a trace use the same
   * value, so that their times are consistent.
   */
  timeOriginMs: number;
}

/** A call in a batch. */
interface BatchedCall extends SpanParent {
  startTime: number;
}

/** The values of `db.system.name`, by store. A store without a value consists of files, or of tables in PostgreSQL. */
type Systems = Partial<Record<StoreName, string>>;

/** Returns the current time in milliseconds since 1970. */
const nowOf = ({ timeOriginMs }: SpanParent) => timeOriginMs + performance.now();

/** Creates an observer of the stores that creates spans, and a function that sets the current request. */
export function createStoreSpans(tracer: Tracer, metrics: Observer, systems: Systems) {
  const current = new AsyncLocalStorage<SpanParent | undefined>();

  const observer: Observer = {
    storeCall(store, verb, seconds, outcome) {
      metrics.storeCall(store, verb, seconds, outcome);
      const parent = current.getStore();
      if (!parent) return;
      const system = systems[store];
      const endTime = nowOf(parent);
      const attributes = {
        ...(system && { 'db.system.name': system }),
        'db.operation.name': verb,
        ...(outcome !== 'ok' && { 'error.type': outcome }),
      };
      const kind = system ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const options = { kind, attributes, startTime: endTime - seconds * 1000 };
      const span = tracer.startSpan(`${verb} ${store}`, options, parent.context);
      if (outcome !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    },

    batch: (name, size) => metrics.batch(name, size),

    batchTracer: (name) => ({
      origin(): BatchedCall | undefined {
        const parent = current.getStore();
        return parent && { ...parent, startTime: nowOf(parent) };
      },

      async run(origins, load) {
        const calls = (origins as (BatchedCall | undefined)[]).filter((call) => call !== undefined);
        const [first] = calls;
        // Unset explicitly, because otherwise the batch would run in the context of an arbitrary call.
        if (!first) return current.run(undefined, load);
        // The OpenTelemetry conventions define this attribute only for batches of two or more.
        const attributes = origins.length > 1 ? { 'db.operation.batch.size': origins.length } : {};
        const start = ({ startTime, context }: BatchedCall) =>
          tracer.startSpan(name, { startTime, attributes }, context);
        const spans = calls.map(start);
        const [firstSpan, ...otherSpans] = spans as [ReturnType<typeof start>, ...typeof spans];
        for (const span of otherSpans) span.addLink({ context: firstSpan.spanContext() });
        try {
          return await current.run({ ...first, context: trace.setSpan(first.context, firstSpan) }, load);
        } catch (error) {
          for (const span of spans) span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          for (const [index, span] of spans.entries()) span.end(nowOf(calls[index] ?? first));
        }
      },
    }),
  };

  return {
    observer,
    /**
     * Runs the rest of a request. `parent` is undefined if the request is not sampled; its store calls then create no
     * spans.
     */
    runRequest: (parent: SpanParent | undefined, run: () => void) => current.run(parent, run),
  };
}
