/**
 * Runs the contract tests against a service.
 *
 * The groups of `rules/index.ts` run one after another, the subjects of a group concurrently, and the rules of a subject in
 * order. One client sends all requests, within the rate limits, and passes every exchange to two observers: the document check,
 * which has rules of its own, and the account registry. At the end, also after an interrupt, all registered accounts are deleted.
 */

import { setMaxListeners } from 'node:events';
import {
  type Bucket,
  type BucketState,
  type CheckedResponse,
  type ClientOptions,
  contract,
  createClient,
  describeExchange,
  type ExchangeDescription,
  formatDuration,
  maskSecrets,
  NoResponseError,
  type RequestCounts,
  shorten,
} from './client/index.js';
import { ExpectationError, SkippedError } from './expect.js';
import { recognize } from './recognize.js';
import type { Rule, Subject } from './rule.js';
import { groups } from './rules/index.js';
import { createAccountRegistry, createTestUsers, type OperatorAccount, type TestUsers } from './users.js';

/** `signal` ends the checks. The accounts are still deleted. */
export interface RunSettings extends Omit<ClientOptions, 'observer'> {
  /** Returns whether to check a rule. */
  selects(rule: ListedRule): boolean;
  onProgress(done: number, total: number): void;
  /** Accounts that the operator has created, for a service with closed registration. The run deletes them. */
  accounts?: readonly OperatorAccount[] | undefined;
  /** Called before the accounts are deleted. Tests use it to look into the stores. */
  onRulesChecked?(): Promise<void>;
}

interface Failure extends Partial<ExchangeDescription> {
  /** When the rule failed, in RFC 3339 format. The first failure of a run is often the cause of others. */
  time: string;
  expected: string;
  actual?: string;
}

export interface RuleResult {
  subject: string;
  id: string;
  sentence: string;
  verdict: 'passed' | 'failed' | 'skipped';
  seconds: number;
  failure?: Failure;
  /** The reason why the rule was skipped. */
  reason?: string;
}

export interface RunResult {
  /** The results of the rules that were checked. */
  results: RuleResult[];
  /** The number of selected rules that were not checked because of an interrupt. */
  unchecked: number;
  counts: RequestCounts;
  /** The number of accounts that were registered, including deleted ones. */
  accounts: number;
  /** The ids of accounts that could not be deleted. */
  undeletedAccounts: number[];
  seconds: number;
}

/** Round numbers that no run exceeds, even with slow rules and some new operations. A test checks them. */
export const MAX_REQUESTS: RequestCounts = { strict: 1500, general: 10_000 };

/** A rule for each operation. It sends no requests, but checks the responses to those of all other rules. */
const documentRules = contract.map(({ id, method, path }) => ({
  operation: id,
  id: `document.${id}`,
  sentence: `Every response to ${method} ${path} has only a status, headers and a body that openapi.yaml declares for it.`,
}));

const requestingRules = groups.flat().flatMap(({ rules }) => rules);

export type ListedRule = Pick<Rule, 'id' | 'sentence' | 'slow'>;

export const allRules: readonly ListedRule[] = [...requestingRules, ...documentRules];

/**
 * Checks the selected rules, and deletes all accounts that they created.
 *
 * @throws NoResponseError if the service does not respond
 * @throws CommandError if it does not implement the contract or is too busy
 */
export async function run(settings: RunSettings): Promise<RunResult> {
  const { signal, selects } = settings;
  const startedAt = performance.now();
  // Every request and every wait adds a listener.
  setMaxListeners(0, signal);

  const registry = createAccountRegistry(settings.accounts);
  const documentCheck = createDocumentCheck();
  const observer = { onResponse: documentCheck.onResponse, onExchange: registry.onExchange };
  const client = createClient({ ...settings, observer });

  const selectedGroups = groups.map((subjects) =>
    subjects.map(({ name, rules }) => ({ name, rules: rules.filter(selects) })),
  );
  const selectedRules = selectedGroups.flat().flatMap(({ name, rules }) => rules.map((rule) => ({ name, rule })));
  const selectedDocumentRules = documentRules.filter(selects);
  const total = selectedRules.length + selectedDocumentRules.length;
  const verdicts = new Map<string, Verdict>();

  async function checkSubject({ rules }: Subject, users: TestUsers) {
    for (const rule of rules) {
      if (signal.aborted) return;
      const verdict = await checkRule(rule, users);
      if (signal.aborted) return;
      verdicts.set(rule.id, verdict);
      settings.onProgress(verdicts.size, total);
    }
  }

  try {
    await recognize(client);
    settings.log(estimate(client.limits.states, total, selectedRules.length));
    const users = createTestUsers(client, settings.accounts);
    for (const subjects of selectedGroups) await Promise.all(subjects.map((subject) => checkSubject(subject, users)));
    for (const { id, operation } of selectedDocumentRules) {
      const verdict = await documentCheck.verdict(operation);
      if (verdict || !signal.aborted) verdicts.set(id, verdict ?? NOT_REQUESTED);
    }
    if (!signal.aborted) settings.onProgress(verdicts.size, total);
    await settings.onRulesChecked?.();
  } catch (error) {
    // After an interrupt, requests of `recognize` fail, and so do waits for a rate limit.
    if (!signal.aborted) throw error;
  } finally {
    await client.idle();
    await registry.deleteAll(client.sendAfterInterrupt);
    client.close();
  }

  const listed = [...selectedRules, ...selectedDocumentRules.map((rule) => ({ name: 'The document', rule }))];
  return {
    results: listed.flatMap(({ name, rule: { id, sentence } }) => {
      const verdict = verdicts.get(id);
      return verdict ? { subject: name, id, sentence, seconds: 0, ...verdict } : [];
    }),
    unchecked: total - verdicts.size,
    counts: client.counts,
    accounts: registry.registeredCount(),
    undeletedAccounts: registry.undeleted(),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

type Verdict = Pick<RuleResult, 'verdict' | 'failure' | 'reason'> & { seconds?: number };

const PASSED: Verdict = { verdict: 'passed' };
const NOT_REQUESTED: Verdict = { verdict: 'skipped', reason: 'none of the selected rules requests this operation' };

async function checkRule({ check }: Rule, users: TestUsers): Promise<Verdict> {
  const startedAt = performance.now();
  const verdict = await check(users).then(() => PASSED, verdictOfError);
  return { ...verdict, seconds: (performance.now() - startedAt) / 1000 };
}

async function verdictOfError(error: unknown): Promise<Verdict> {
  if (error instanceof SkippedError) return { verdict: 'skipped', reason: error.message };
  return { verdict: 'failed', failure: await failureOf(error) };
}

async function failureOf(error: unknown): Promise<Failure> {
  const time = new Date().toISOString();
  if (error instanceof NoResponseError) return { time, expected: 'a response', actual: error.message };
  // A rule threw because the response does not have the structure that it reads.
  if (!(error instanceof ExpectationError))
    return { time, expected: 'a response that the rule can read', actual: `${error}` };
  const { expected, actual, exchange } = error;
  return {
    time: error.time,
    expected: truncated(expected),
    ...(actual !== undefined && { actual: truncated(actual) }),
    ...(exchange && (await describeExchange(exchange))),
  };
}

const truncated = (text: string) => shorten(maskSecrets(text), 800);

function createDocumentCheck() {
  /** For each requested operation, the first response that violates the document, or undefined. */
  const errors = new Map<string, ExpectationError | undefined>();
  return {
    onResponse(operation: string, { exchange }: CheckedResponse, violations: string[]) {
      if (errors.get(operation)) return;
      const expected = 'a response that openapi.yaml declares';
      const isValid = violations.length === 0;
      errors.set(operation, isValid ? undefined : new ExpectationError(expected, exchange, violations.join('; ')));
    },
    /** Returns undefined if no rule requested this operation. */
    async verdict(operation: string): Promise<Verdict | undefined> {
      const error = errors.get(operation);
      if (error) return verdictOfError(error);
      return errors.has(operation) ? PASSED : undefined;
    },
  };
}

/** Rounds up to two digits and zeros, because the announced numbers are estimates. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
}

/** Returns an estimate of the requests of the run, and of the time that the rate limits add. */
function estimate(states: Readonly<Record<Bucket, BucketState>>, ruleCount: number, requestingCount: number): string {
  // The fewer rules, the fewer share a user. Measured with the rules of several subjects.
  const share = (Math.max(1, requestingCount) / requestingRules.length) ** 0.75;
  const needs = Object.entries(MAX_REQUESTS).map(([bucket, requests]) => {
    const count = roundUp(requests * share);
    const { limit, remaining = 0, resetsAt = Date.now() } = states[bucket as Bucket];
    if (limit === undefined) return { text: `${count} ${bucket} requests (limit unknown)`, waitMs: 0 };
    // The length of a window is unknown: the rest of the current one is a minimum.
    const windows = Math.max(0, Math.ceil((count - remaining) / limit));
    return {
      text: `${count} ${bucket} requests (${limit} in a window)`,
      waitMs: windows * Math.max(0, resetsAt - Date.now()),
    };
  });
  const waitMs = Math.max(...needs.map((need) => need.waitMs));
  const advice = `about ${formatDuration(waitMs)} of waiting, less with higher RATE_LIMIT_MAX and RATE_LIMIT_STRICT_MAX`;
  return `${ruleCount} rules need about ${needs.map(({ text }) => text).join(' and ')}: ${waitMs > 0 ? advice : 'no waiting'}.`;
}
