import { type Context, context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import Fastify from 'fastify';
import t from 'tap';
import { routes } from '../../generated/routes.js';
import { nameSpans } from '../../handlers/http/span-names.js';

/** Makes a span the active one, as the registration of OpenTelemetry does, which is not installed here. */
function activate(span: Pick<Span, 'updateName' | 'setAttribute'>): void {
  const active: Context = trace.setSpan(ROOT_CONTEXT, span as Span);
  const manager = {
    active: () => active,
    with: <Result>(_: Context, run: () => Result) => run(),
    bind: <Target>(_: Context, target: Target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager as Parameters<typeof context.setGlobalContextManager>[0]);
}

t.test('names the active span after the operation, and adds the id of the request', async (t) => {
  const server = Fastify({ genReqId: () => 'request-1' });
  nameSpans(server);
  server.get('/posts', { config: { operation: routes.listPosts } }, async () => 'posts');
  server.get('/docs', async () => 'docs');
  await server.inject('/posts');
  const recorded: unknown[] = [];
  const span = {
    updateName: (name: string) => recorded.push(name),
    setAttribute: (...attribute: unknown[]) => recorded.push(attribute),
  } as unknown as Span;
  activate(span);
  t.teardown(() => context.disable());
  await server.inject('/posts');
  t.same(recorded.splice(0), ['listPosts', ['request.id', 'request-1']]);
  await server.inject('/docs');
  t.same(recorded, [['request.id', 'request-1']]);
});
