import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import t, { type Test } from 'tap';
import { batched } from '../../db/support/batch.js';
import { noopObserver, observedBatches, timed } from '../../db/support/observer.js';
import { createStoreSpans } from '../../handlers/tracing/store-spans.js';

/** Creates a lookup whose batches make one store call each, and records the spans of the requests that use it. */
function setUp(
  t: Test,
  { maxInFlight = 2, store = async () => undefined }: { maxInFlight?: number; store?: () => Promise<void> } = {},
) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  t.teardown(() => provider.shutdown());
  const tracer = provider.getTracer('test');
  const { observer, runRequest } = createStoreSpans(tracer, noopObserver, { postgres: 'postgresql' });
  const query = async (keys: number[]) => {
    await timed(observer, 'postgres', 'query', store());
    return keys;
  };
  const lookUp = batched(query, { ...observedBatches(observer, 'lookUp'), maxInFlight });

  /** Looks up a key as part of a request with this name, or of a request that is not sampled. */
  const request = async (name: string | undefined, key: number): Promise<number> => {
    const span = name === undefined ? undefined : tracer.startSpan(name, { kind: SpanKind.SERVER });
    const parent = span && { context: trace.setSpan(ROOT_CONTEXT, span), timeOriginMs: performance.timeOrigin };
    const found = await new Promise<number>((resolve, reject) => {
      runRequest(parent, () => lookUp(key).then(resolve, reject));
    });
    span?.end();
    return found;
  };
  /** Returns each span as `name < parent`, sorted. */
  const tree = () => {
    const spans = exporter.getFinishedSpans();
    const nameOf = (id: string | undefined) => spans.find((span) => span.spanContext().spanId === id)?.name;
    return spans.map(({ name, parentSpanContext }) => `${name} < ${nameOf(parentSpanContext?.spanId)}`).sort();
  };
  return { request, tree, spans: () => exporter.getFinishedSpans() };
}

t.test('the first sampled request of a batch has the spans of its store calls, the others link to it', async (t) => {
  const { request, tree, spans } = setUp(t);
  t.same(await Promise.all([request(undefined, 1), request('one', 2), request('two', 3)]), [1, 2, 3]);
  t.same(tree(), ['lookUp < one', 'lookUp < two', 'one < undefined', 'query postgres < lookUp', 'two < undefined']);
  const [first, second] = spans().filter(({ name }) => name === 'lookUp');
  const [query] = spans().filter(({ name }) => name === 'query postgres');
  t.equal(query?.parentSpanContext?.spanId, first?.spanContext().spanId);
  t.same([first?.links, second?.links.map(({ context }) => context)], [[], [first?.spanContext()]]);
  t.equal(first?.attributes['db.operation.batch.size'], 3);
});

t.test('a batch without sampled requests has no spans, even directly after a sampled batch', async (t) => {
  let second: Promise<number> | undefined;
  const { request, tree } = setUp(t, {
    maxInFlight: 1,
    // The other request arrives during the first batch, which then starts the second.
    async store() {
      second ??= request(undefined, 2);
    },
  });
  t.equal(await request('one', 1), 1);
  t.equal(await second, 2);
  t.same(tree(), ['lookUp < one', 'one < undefined', 'query postgres < lookUp']);
});
