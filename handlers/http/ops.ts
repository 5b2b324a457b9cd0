import Fastify, { type FastifyInstance } from 'fastify';

/** Whether each store answers, by name. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export interface OpsServer {
  server: FastifyInstance;
  /** From now on the service says that it is not ready. */
  drain(): void;
}

/** What operators and orchestrators ask, on a port of its own: `/livez` for the process, `/readyz` for its stores. */
export function buildOpsServer(checks: Checks): OpsServer {
  const server = Fastify({ logger: false });
  let draining = false;

  server.get('/livez', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_, reply) => {
    const stores = Object.fromEntries(await Promise.all(Object.entries(checks).map(time)));
    const ready = !draining && Object.values(stores).every(({ ok }) => ok);
    return reply.code(ready ? 200 : 503).send({ status: draining ? 'stopping' : ready ? 'ok' : 'unavailable', stores });
  });

  return {
    server,
    drain() {
      draining = true;
    },
  };
}

async function time([name, check]: [string, () => Promise<unknown>]) {
  const started = performance.now();
  const ok = await check().then(
    () => true,
    () => false,
  );
  return [name, { ok, ms: Math.round(performance.now() - started) }] as const;
}
