import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { StoreName } from '../../db/support/errors.js';
import type { OperationId } from '../../generated/types.js';
import { type FaultyStore, startFaultyStores } from '../faults/toxiproxy.js';
import { type ServiceProcess, startProcess } from '../support/processes.js';
import { createSender, type RequestOptions, type TestResponse } from '../support/requests.js';
import { freshStores, onServices } from '../support/stores.js';
import { Disagreement } from './cell.js';
import type { Stage } from './turn.js';

export type Fault = Exclude<keyof FaultyStore, 'heal'>;

/** Two processes and faulty stores where there are real ones; embedded stores serve one process, and have no way to fail. */
export const PROCESSES = onServices ? 2 : 1;
export const STORES: StoreName[] = onServices
  ? [
      'postgres',
      'graph',
      ...(process.env.S3_BUCKET ? ['images' as const] : []),
      ...(process.env.REDIS_URL ? ['redis' as const] : []),
    ]
  : [];

/** The deadline of one call to Neo4j, in milliseconds, and for how long after it a write may still happen. */
const NEO4J_TIMEOUT = 2000;
const LATENESS = onServices ? 6 * NEO4J_TIMEOUT + 2000 : 0;

/** Far longer than any answer takes, store or no store, in milliseconds. */
const PATIENCE = 60_000;

interface Slot {
  service: ServiceProcess | undefined;
  starting: Promise<void> | undefined;
}

/** The processes that serve, and what befalls them and their stores. */
export class LiveStage implements Stage {
  readonly maxCommitDelayMs = LATENESS;
  readonly away = new Set<StoreName>();
  readonly plays = new Map<OperationId, number>();
  readonly tally = { steps: 0, asked: 0, lost: 0, unavailable: 0, kills: 0, faults: 0 };
  notes: string[] = [];
  #slots: Slot[] = [];
  #turn = 0;

  private constructor(
    readonly t: Test,
    /** The way past the proxies. */
    readonly direct: NodeJS.ProcessEnv,
    readonly environment: NodeJS.ProcessEnv,
    readonly stores: Partial<Record<StoreName, FaultyStore>>,
  ) {}

  static async open(t: Test): Promise<LiveStage> {
    const direct = { NEO4J_TIMEOUT: String(NEO4J_TIMEOUT), ...(await freshStores(t)) };
    const { environment, ...stores } = await startFaultyStores(t, direct, STORES);
    const stage = new LiveStage(t, direct, environment, stores);
    stage.#slots = Array.from({ length: PROCESSES }, () => ({ service: undefined, starting: undefined }));
    await stage.settle();
    return stage;
  }

  /** Asks one process after the other. */
  async ask(method: string, path: string, ask: RequestOptions): Promise<TestResponse | null> {
    const service = await this.#next();
    this.tally.asked += 1;
    const enough = new AbortController();
    try {
      const patience = sleep(PATIENCE, null, { signal: enough.signal, ref: false }).catch(() => null);
      const answer = await Promise.race([createSender(this.t, service.url)(method, path, ask), patience]);
      if (!answer) throw new Disagreement(`${method} ${path} was never answered`);
      if (answer.status === 503) this.tally.unavailable += 1;
      return answer;
    } catch (error) {
      if (error instanceof Disagreement) throw error;
      // A process that is killed takes its connections with it.
      if (!service.child.killed) throw error;
      this.tally.lost += 1;
      return null;
    } finally {
      enough.abort();
    }
  }

  async #next(): Promise<ServiceProcess> {
    for (;;) {
      const alive = this.#slots.flatMap(({ service }) => service ?? []);
      this.#turn += 1;
      const service = alive[this.#turn % (alive.length || 1)];
      if (service) return service;
      await Promise.race(this.#slots.map(({ starting }) => starting ?? this.#start(0)));
    }
  }

  /** Kills a process with all that it is doing. It starts again at once, or when its stores answer. */
  kill(index: number): void {
    const slot = this.#slots[index];
    if (!slot?.service) return;
    this.tally.kills += 1;
    this.note(`process ${index} is killed`);
    slot.service.child.kill('SIGKILL');
    slot.service = undefined;
    if (this.away.size === 0) void this.#start(index);
  }

  async #start(index: number): Promise<void> {
    const slot = this.#slots[index];
    if (!slot || slot.service) return;
    slot.starting ??= this.#launch(slot, index);
    await slot.starting;
  }

  async #launch(slot: Slot, index: number): Promise<void> {
    await this.#heal();
    slot.service = await startProcess(this.t, this.environment);
    slot.starting = undefined;
    this.note(`process ${index} serves`);
  }

  async strike(store: StoreName, fault: Fault, milliseconds: number): Promise<void> {
    await Promise.all(this.#slots.map(({ starting }) => starting));
    this.tally.faults += 1;
    this.away.add(store);
    this.note(`${store}: ${fault} ${milliseconds}`);
    await this.stores[store]?.[fault](milliseconds);
  }

  async #heal(): Promise<void> {
    for (const store of this.away) await this.stores[store]?.heal();
  }

  /** Everything works again, and every process knows it. */
  async settle(): Promise<void> {
    await this.#heal();
    await Promise.all(this.#slots.map((_, index) => this.#start(index)));
    for (const { service } of this.#slots) {
      while (!(await fetch(`${service?.opsUrl}/readyz`)).ok) await sleep(20);
    }
    this.away.clear();
    this.note('all is well');
  }

  async stop(): Promise<void> {
    for (const { service } of this.#slots) this.t.equal(await service?.end('SIGTERM'), 0);
  }

  note(line: string): void {
    this.notes.push(line);
  }

  played(operation: OperationId): void {
    this.plays.set(operation, (this.plays.get(operation) ?? 0) + 1);
  }
}
