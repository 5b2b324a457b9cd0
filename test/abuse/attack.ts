import { percentile } from '../../scripts/bench/statistics.js';
import { samples } from '../../scripts/contract-test/images.js';
import type { Lifetime } from '../support/lifetime.js';
import type { Sent } from './client.js';
import type { HonestRequest, Observation } from './observe.js';
import type { AbusedService, StartOptions } from './service.js';

/** An account made for an attack. */
export interface Account {
  id: number;
  email: string;
  password: string;
  token: string;
}

/** The environment of an attack. */
export interface Target extends Lifetime {
  service: AbusedService;
  environment: NodeJS.ProcessEnv;
  /** Whether the run is a short one, as in CI. */
  quick: boolean;
  /** Aborted when the attack has used up its time. */
  signal: AbortSignal;
  /** Sends a request to the service, from a separate address unless `sent` names one. */
  send(method: string, path: string, sent?: Sent): ReturnType<typeof import('./client.js').send>;
  /** Registers an account and logs it in. */
  createAccount(): Promise<Account>;
  /** Remembers a text that must not occur in any log. */
  addSecret(...secrets: string[]): void;
}

/** A measured value with its upper bound. */
export interface Figure {
  name: string;
  value: number;
  /** If omitted, the figure is only reported. */
  atMost?: number;
  unit?: string;
}

export interface Attack {
  /** The name of its file. */
  name: string;
  /** A description in one line. */
  title: string;
  /** The reason to skip the attack. */
  skip?: string | false;
  variables?: NodeJS.ProcessEnv;
  start?: StartOptions;
  /** Fills the stores before the service starts. */
  fill?(environment: NodeJS.ProcessEnv, quick: boolean): Promise<void>;
  /** Prepares accounts and posts. Returns the requests of the honest client; the latencies of the first one are reported. */
  prepare(target: Target): Promise<{ honest: HonestRequest[]; run(): Promise<Figure[]> }>;
  /** Returns the measured figures with their bounds. */
  evaluate(measured: Measured, quick: boolean): Figure[];
}

/** The measurements of an attack. */
export interface Measured {
  observation: Observation;
  /** Milliseconds of the first honest request. */
  p50: number;
  p99: number;
  max: number;
  errors: number;
  rssMiB: number;
  files: number;
  /** Undefined if the service no longer responded. */
  loopDelayMs: number | undefined;
  alive: boolean;
}

export const isInside = ({ value, atMost }: Figure): boolean => atMost === undefined || value <= atMost;

/** Returns a request for the current account, sent twenty times a second. */
export const currentAccount = (token: string): HonestRequest => ({
  name: 'me',
  method: 'GET',
  path: '/auth/me',
  sent: { token },
  everyMs: 50,
});

/** Returns a login, sent twice a second. The service may respond with 503. */
export const logins = ({ email, password }: Account): HonestRequest => ({
  name: 'login',
  method: 'POST',
  path: '/auth/login',
  sent: { json: { email, password } },
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

/** Returns a latency percentile of one of the honest requests. */
export const percentileOf = ({ observation }: Measured, name: string, share: number, atMost: number): Figure =>
  figureMs(`${name} p${share * 100}`, percentile(observation.latencies[name] ?? [], share), atMost);

const figureMs = (name: string, value: number, atMost: number): Figure => ({ name, value, atMost, unit: 'ms' });

/** Returns a file with a PNG signature, without valid chunks or metadata. */
export const imageOf = (bytes: number): Blob =>
  new Blob([new Uint8Array(samples.png.subarray(0, 8)), new Uint8Array(bytes - 8)], { type: 'image/png' });
