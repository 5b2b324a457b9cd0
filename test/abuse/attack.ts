import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../scripts/bench/statistics.js';
import type { Lifetime } from '../support/lifetime.js';
import type { TestResponse } from '../support/requests.js';
import type { SendOptions } from './client.js';
import type { HonestRequest, Observation } from './observe.js';
import type { AbusedService, StartOptions } from './service.js';

/** An account of an attacker or of the honest client. */
export interface Account {
  id: number;
  email: string;
  password: string;
  token: string;
}

interface Accounts {
  honest: Account;
  attacker: Account;
}

/** The service under attack, with helpers for the attack. */
export interface Target extends Lifetime {
  service: AbusedService;
  /** Whether the run is a short one, as in CI. */
  quick: boolean;
  /** Aborted when the attack has used up its time. */
  signal: AbortSignal;
  /** Sends a request to the service, from one of many addresses unless the options name one. */
  send(method: string, path: string, options?: SendOptions): Promise<TestResponse>;
  /** Registers an account and logs it in. */
  createAccount(): Promise<Account>;
}

/** A measured value with its upper bound. */
export interface Figure {
  name: string;
  value: number;
  /** If omitted, the figure is only reported. */
  atMost?: number;
  unit?: string;
}

/** An attack. Unless it prepares other requests, the honest client repeats the request for the current account. */
export type Attack = AttackProperties & (Immediate | Prepared);

interface Immediate {
  /** Attacks, and returns its own figures. */
  run(target: Target, accounts: Accounts): Promise<Figure[]>;
}

interface Prepared {
  /** Prepares the attack. Of the honest requests, the latencies of the first are reported. */
  prepare(target: Target, accounts: Accounts): Promise<{ honestRequests?: HonestRequest[]; run(): Promise<Figure[]> }>;
}

interface AttackProperties {
  /** The name of its file. */
  name: string;
  /** A description in one line. */
  title: string;
  /** The reason to skip the attack. */
  skip?: string | false;
  /** Added to the environment variables of the service. */
  variables?: NodeJS.ProcessEnv;
  start?: StartOptions;
  /** Fills the stores before the service starts. */
  fill?(lifetime: Lifetime, environment: NodeJS.ProcessEnv, quick: boolean): Promise<void>;
  /** Returns the measured figures with their bounds. */
  evaluate(measured: Measured, quick: boolean): Figure[];
}

/** The measurements of an attack. */
export interface Measured {
  observation: Observation;
  /** Latencies of the first honest request, in milliseconds. */
  p50: number;
  p99: number;
  max: number;
  /** The number of unexpected responses to honest requests. */
  errors: number;
  rssMiB: number;
  openFiles: number;
  /** Undefined if the service no longer responded. */
  loopDelayMs: number | undefined;
  alive: boolean;
}

export const isWithinBound = ({ value, atMost }: Figure): boolean => atMost === undefined || value <= atMost;

/** Returns the honest request for the current account, sent twenty times a second. */
export const currentAccount = (token: string): HonestRequest => ({
  name: 'me',
  method: 'GET',
  path: '/auth/me',
  options: { token },
  everyMs: 50,
});

/** Returns the honest request to log in, sent twice a second. The service may respond with 503. */
export const logins = ({ email, password }: Account): HonestRequest => ({
  name: 'login',
  method: 'POST',
  path: '/auth/login',
  options: { json: { email, password } },
  everyMs: 500,
  bucket: 'strict',
  expected: [200, 503],
});

export const noErrors = ({ errors }: Measured): Figure => ({ name: 'errors', value: errors, atMost: 0 });

export const p50 = (measured: Measured, atMost: number): Figure => figureMs('p50', measured.p50, atMost);
export const p99 = (measured: Measured, atMost: number): Figure => figureMs('p99', measured.p99, atMost);
export const max = (measured: Measured, atMost: number): Figure => figureMs('max', measured.max, atMost);

export const loopDelay = ({ loopDelayMs = Number.POSITIVE_INFINITY }: Measured, atMost: number): Figure =>
  figureMs('loop delay', loopDelayMs, atMost);

export const memory = ({ rssMiB }: Measured, atMost: number): Figure => ({
  name: 'RSS',
  value: rssMiB,
  atMost,
  unit: 'MiB',
});

/** Returns the figure for a latency percentile of the honest request with this name. */
export const percentileOf = ({ observation }: Measured, name: string, share: number, atMost: number): Figure =>
  figureMs(`${name} p${share * 100}`, percentile(observation.latencies[name] ?? [], share), atMost);

/** Returns the figure for the number of requests without a response of one of these statuses, at most 0. */
export const otherStatuses = (statuses: readonly number[], one: number, other: number): Figure => ({
  name: `neither ${one} nor ${other}`,
  value: statuses.filter((status) => status !== one && status !== other).length,
  atMost: 0,
});

/** Returns the figure for the number of responses with this status, which is only reported. */
export const countStatus = (statuses: readonly number[], expected: number): Figure => ({
  name: String(expected),
  value: statuses.filter((status) => status === expected).length,
});

/** Waits for the duration of an attack. */
export const waitForAttack = ({ quick }: Target, durationMs: { quick: number; full: number }): Promise<void> =>
  sleep(quick ? durationMs.quick : durationMs.full);

const figureMs = (name: string, value: number, atMost: number): Figure => ({ name, value, atMost, unit: 'ms' });
