import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import type { OperationId } from '../../generated/types.js';
import { startFaultyStores } from '../faults/faulty-stores.js';
import { createSender, type HttpOptions, type TestResponse } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/processes.js';
import type { Fault, FaultyProxy } from '../support/proxy.js';
import { freshStores, onServices } from '../support/stores.js';
import { until } from '../support/until.js';
import { ModelMismatchError } from './state.js';

/** Embedded stores serve one process and cannot be made to fail; real servers serve two, through fault proxies. */
export const PROCESSES = onServices ? 2 : 1;
export const STORES: StoreName[] = onServices ? ['postgres', 'graph', 'images', 'redis'] : [];

/** The timeout of one call to Neo4j. */
const NEO4J_TIMEOUT_MS = 2000;
/**
 * The timeout of one statement. Longer, because the deletion of an account waits for the locks of requests that wait for Neo4j. With
 * equal timeouts, a deletion that begins at the same time as such a request can fail.
 */
const DATABASE_TIMEOUT_MS = 2 * NEO4J_TIMEOUT_MS;
/**
 * For how long a graph write without a response may still be committed: `maxCommitDelayMs` in `db/graph/neo4j-connection.ts`. The
 * graph in tables has no delay.
 */
export const MAX_COMMIT_DELAY_MS = onServices ? 6 * NEO4J_TIMEOUT_MS + 2000 : 0;

/** Much longer than any response takes, even while a store fails. */
const RESPONSE_TIMEOUT_MS = 60_000;

/** The place of a service process, which may be killed and restarted. */
interface Slot {
  /** Undefined from the kill of a process until the next one listens. */
  service: ServiceProcess | undefined;
  /** The start in progress. */
  starting: Promise<void> | undefined;
}

/** The service processes and the fault proxies of their stores. */
export class ServiceFixture {
  /** Stores that are unavailable, or may have been a moment ago. */
  readonly unavailableStores = new Set<StoreName>();
  /** The operations that had a response other than 503. */
  readonly executed = new Set<OperationId>();
  /** The log of the scenario: requests, kills and faults. */
  logLines: string[] = [];
  readonly #slots = Array.from({ length: PROCESSES }, (): Slot => ({ service: undefined, starting: undefined }));
  #nextIndex = 0;

  private constructor(
    readonly t: Test,
    /** The variables that bypass the fault proxies. */
    readonly directEnvironment: NodeJS.ProcessEnv,
    readonly environment: NodeJS.ProcessEnv,
    readonly stores: Partial<Record<StoreName, FaultyProxy>>,
  ) {}

  static async open(t: Test): Promise<ServiceFixture> {
    const directEnvironment = {
      NEO4J_TIMEOUT: String(NEO4J_TIMEOUT_MS),
      DATABASE_TIMEOUT: String(DATABASE_TIMEOUT_MS),
      ...(await freshStores(t)),
    };
    const { environment, ...stores } = await startFaultyStores(t, directEnvironment, STORES);
    const fixture = new ServiceFixture(t, directEnvironment, environment, stores);
    await fixture.recover();
    return fixture;
  }

  /** Sends a request to the next process. Returns null if that process is killed before it responds. Throws after a timeout. */
  async send(method: string, path: string, options: HttpOptions): Promise<TestResponse | null> {
    const service = await this.#nextService();
    const timeout = sleep(RESPONSE_TIMEOUT_MS, undefined, { ref: false });
    try {
      const response = await Promise.race([createSender(this.t, service.url)(method, path, options), timeout]);
      if (response) return response;
    } catch (error) {
      if (!service.child.killed) throw error;
      return null;
    }
    throw new ModelMismatchError(`${method} ${path} timed out`);
  }

  async #nextService(): Promise<ServiceProcess> {
    for (;;) {
      const alive = this.#slots.flatMap(({ service }) => service ?? []);
      this.#nextIndex += 1;
      const service = alive[this.#nextIndex % (alive.length || 1)];
      if (service) return service;
      await Promise.race(this.#slots.map(({ starting }) => starting ?? this.#start(0)));
    }
  }

  /** Kills a process. It restarts immediately if the stores are available, otherwise in `recover` or when none is left. */
  kill(index: number): void {
    const slot = this.#slots[index];
    if (!slot?.service) return;
    this.log(`process ${index} was killed`);
    slot.service.child.kill('SIGKILL');
    slot.service = undefined;
    if (this.unavailableStores.size === 0) void this.#start(index);
  }

  async #start(index: number): Promise<void> {
    const slot = this.#slots[index];
    if (!slot || slot.service) return;
    slot.starting ??= this.#heal().then(async () => {
      slot.service = await startProcess(this.t, this.environment);
      slot.starting = undefined;
      this.log(`process ${index} is ready`);
    });
    await slot.starting;
  }

  async injectFault(store: StoreName, fault: Fault): Promise<void> {
    // The fault would make a start in progress fail. While this waits, another process may be killed and start again.
    const starts = () => this.#slots.flatMap(({ starting }) => starting ?? []);
    while (starts().length > 0) await Promise.all(starts());
    this.unavailableStores.add(store);
    this.log(`${store}: ${JSON.stringify(fault)}`);
    await this.stores[store]?.setFault(fault);
  }

  async #heal(): Promise<void> {
    for (const store of this.unavailableStores) await this.stores[store]?.heal();
  }

  /** Heals all stores, starts all processes, and waits until they are ready. */
  async recover(): Promise<void> {
    await this.#heal();
    await Promise.all(this.#slots.map((_, index) => this.#start(index)));
    for (const { service } of this.#slots) {
      await until(async () => (await fetch(`${service?.opsUrl}/readyz`)).ok);
    }
    this.unavailableStores.clear();
    this.log('recovered');
  }

  async stop(): Promise<void> {
    for (const { service } of this.#slots) this.t.equal(await service?.end('SIGTERM'), 0);
  }

  log(line: string): void {
    this.logLines.push(line);
  }
}
