import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { HttpOptions, TestResponse } from '../support/http.js';
import type { registerWith } from '../support/users.js';
import type { Measurement } from './measurements.js';
import type { HonestRequest, Observation } from './observe.js';
import type { AttackedService } from './service.js';

/** The password that attackers guess. */
export const GUESSED_PASSWORD = 'Guessed-Harbour-27!';

/** An account whose password is `PASSWORD`. */
type Account = Awaited<ReturnType<typeof registerWith>>;

/** The service under attack, with helpers for the attack. */
export interface Target {
  service: AttackedService;
  /** Whether the run is a short one, as in CI. */
  quick: boolean;
  /** Aborted when the attack has ended, or has used up its time. */
  signal: AbortSignal;
  honest: Account;
  attacker: Account;
  /** Sends a request to the service, from one of many addresses unless the options name one. */
  send(method: string, path: string, options?: HttpOptions): Promise<TestResponse>;
}

export interface Attack {
  title: string;
  skip?: string | false;
  variables?: NodeJS.ProcessEnv;
  /** Fills the stores before the service starts. */
  fill?(t: Test, environment: NodeJS.ProcessEnv, quick: boolean): Promise<void>;
  /** Returns the requests that the honest client repeats during the attack, by default `GET /auth/me`. */
  honestRequests?(target: Target): HonestRequest[] | Promise<HonestRequest[]>;
  /** Runs the attack. Returns its own measurements, with their bounds. */
  run(target: Target): Promise<Measurement[]>;
  /** Returns the measurements of the observed service and honest client, with their bounds. */
  measurements(observation: Observation, target: Target): Measurement[];
}

export const waitForAttack = ({ quick }: Target, durationMs: { quick: number; full: number }): Promise<void> =>
  sleep(quick ? durationMs.quick : durationMs.full);
