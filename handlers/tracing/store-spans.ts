import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { StoreName } from '../../db/support/errors.js';
import type { Observer } from '../../db/support/observer.js';

/*
 * Spans of store calls and batches. The current request is in an AsyncLocalStorage. It is unset outside of requests and in
 * requests that are not sampled, so that those create no spans.
 *
 * A batch serves several requests. Each of them gets a span with the batch's name, from its call to its result. The store calls
 * are in the trace of the first request, and the spans of the others have a link to the span of the first.
 */

/** A request, or a batch of one: the parent of the spans of store calls. */
export interface SpanParent {
  context: Context;
  /** Converts `performance.now()` to Unix time in milliseconds: one value for a trace, so that its spans are consistent. */
  timeOriginMs: number;
}

interface BatchedCall extends SpanParent {
  startTime: number;
}

/** The values of `db.system.name`. A store without one is part of this process or of PostgreSQL. */
type Systems = Partial<Record<StoreName, string>>;

const nowIn = ({ timeOriginMs }: SpanParent) => timeOriginMs + performance.now();

export function createStoreSpans(tracer: Tracer, metrics: Observer, systems: Systems) {
  const current = new AsyncLocalStorage<SpanParent | undefined>();

  const observer: Observer = {
    storeCall(store, verb, seconds, outcome) {
      metrics.storeCall(store, verb, seconds, outcome);
      const parent = current.getStore();
      if (!parent) return;
      const system = systems[store];
      const endTime = nowIn(parent);
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
        return parent && { ...parent, startTime: nowIn(parent) };
      },

      async run(origins, load) {
        const calls = (origins as (BatchedCall | undefined)[]).filter((call) => call !== undefined);
        const [first] = calls;
        // Otherwise it would run in the context of a batch before it.
        if (!first) return current.run(undefined, load);
        // The conventions reserve the attribute for two and more.
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
          for (const [index, span] of spans.entries()) span.end(nowIn(calls[index] ?? first));
        }
      },
    }),
  };

  return {
    observer,
    /** Runs the rest of a request. Without a parent, because the request is not sampled, its store calls create no spans. */
    runRequest: (parent: SpanParent | undefined, run: () => void) => current.run(parent, run),
  };
}
