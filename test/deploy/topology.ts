import { join } from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';
import { findCommand } from '../../scripts/services/programs.js';
import { needsAllServers } from '../faults/faulty-stores.js';
import { type ServiceProcess, script, spawnService, untilListening } from '../support/processes.js';
import { LONG_TIMEOUTS } from '../support/service.js';
import { claimGraphFor, freshStores, temporaryDirectory } from '../support/stores.js';
import { startProgram } from './programs.js';

/*
 * The deployment of `scripts/deploy` on one machine without systemd: Caddy with the real Caddyfile and its own certificate, two
 * processes of the service, and the stores of `npm run services`. As with systemd, the processes have the same ports on
 * different addresses of the loopback network.
 */

const HOSTS = ['127.0.20.1', '127.0.20.2'] as const;

/** The address of a load balancer in front of the proxy. */
export const LOAD_BALANCER_ADDRESS = '127.0.22.1';

/** As in `social-posting@.service` and `compose.yaml`: longer than the proxy takes to see that a process is stopping. */
const SHUTDOWN_DELAY_SECONDS = 5;

/** Long, so that no write times out on a busy machine. Such a write may still be applied, so that its retry fails. */
const TIMEOUTS = { ...LONG_TIMEOUTS, S3_TIMEOUT: '20000', REDIS_TIMEOUT: '5000' };

/** Test options that skip a test of the whole deployment where it cannot run. */
export const needsDeployment = { skip: whyNotDeployable() };

function whyNotDeployable(): string | false {
  if (process.platform !== 'linux') return 'needs Linux: other systems do not listen on all addresses of 127.0.0.0/8';
  if (!findCommand('caddy')) return 'needs caddy: apt-get install caddy';
  return needsAllServers.skip;
}

/** Starts Caddy on free ports. It stops when the test ends. */
export async function startCaddy(
  t: Test,
  environment: NodeJS.ProcessEnv,
  configuration = join('scripts', 'deploy', 'Caddyfile'),
) {
  const [httpPort, httpsPort, metricsPort] = await Promise.all([findFreePort(), findFreePort(), findFreePort()]);
  const directory = await temporaryDirectory(t);
  const args = ['run', '--adapter', 'caddyfile', '--config', configuration];
  const started = [/serving initial configuration/, /certificate obtained successfully/];
  const log = await startProgram(t, 'caddy', args, started, {
    PATH: process.env.PATH,
    SITE: 'localhost',
    BIND: '127.0.0.1',
    HTTP_PORT: String(httpPort),
    HTTPS_PORT: String(httpsPort),
    METRICS_PORT: String(metricsPort),
    CADDY_ADMIN: 'off',
    HOME: directory,
    XDG_DATA_HOME: directory,
    XDG_CONFIG_HOME: directory,
    ...environment,
  });
  return {
    /** Returns what the proxy has logged. */
    log,
    /** The URL of the proxy. */
    url: `https://localhost:${httpsPort}`,
    /** Where the proxy reports its metrics. */
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    /** The path of the root certificate of the proxy's own certificate authority. */
    certificate: join(directory, 'caddy', 'pki', 'authorities', 'local', 'root.crt'),
  };
}

export type Topology = Awaited<ReturnType<typeof startTopology>>;

/** Creates fresh stores, and starts the proxy, but no process behind it. Everything stops when the test ends. */
export async function startTopology(t: Test, environment: NodeJS.ProcessEnv) {
  const stores = await freshStores(t);
  await claimGraphFor(stores);
  const [port, opsPort] = [String(await findFreePort()), String(await findFreePort())];
  const proxy = await startCaddy(t, {
    UPSTREAMS: HOSTS.map((host) => `${host}:${port}`).join(' '),
    OPS_PORT: opsPort,
    TRUST_PROXY: LOAD_BALANCER_ADDRESS,
  });
  return {
    ...proxy,
    /** The operations port, the same for all processes. */
    opsPort,
    /** Starts a process on the first or second address. Its variables are those of `environment` at this moment. */
    start(index: number, entry = script('start')): Promise<ServiceProcess> {
      const variables = {
        ...stores,
        // PUBLIC_URL is not set, so that only X-Forwarded-Proto tells the service that clients use https.
        HOST: HOSTS[index],
        OPS_HOST: HOSTS[index],
        PORT: port,
        OPS_PORT: opsPort,
        // The previous version does not accept spaces.
        TRUST_PROXY: `127.0.0.1,${LOAD_BALANCER_ADDRESS}`,
        SHUTDOWN_DELAY: String(SHUTDOWN_DELAY_SECONDS),
        LOG_LEVEL: 'info',
        LOG_FORMAT: 'json',
        ...TIMEOUTS,
        ...environment,
      };
      return untilListening(spawnService(t, variables, [], entry));
    },
  };
}
