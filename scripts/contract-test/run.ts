/**
 * Runs the contract tests against a service.
 *
 * The groups of `rules/index.ts` run one after another, the subjects of a group concurrently, and the rules of a subject in
 * order. One client sends all requests, within the rate limits, and passes every exchange to two observers: the document check,
 * which has rules of its own, and the account registry. At the end, a second client deletes all registered accounts, because an
 * interrupt stops the first client.
 */

import { setMaxListeners } from 'node:events';
import {
  type Bucket,
  type BucketState,
  type CheckedResponse,
  type ClientOptions,
  contract,
  createClient,
  createLimits,
  describeExchange,
  type ExchangeDescription,
  formatDuration,
  maskSecrets,
  NoResponseError,
  type Observer,
  type RequestCounts,
  shorten,
} from './client/index.js';
import { ExpectationError, SkippedError } from './expect.js';
import { recognize } from './recognize.js';
import type { Rule, Subject } from './rule.js';
import { groups } from './rules/index.js';
import { createAccountRegistry, createTestUsers, type TestUsers } from './users.js';

/** `signal` ends the checks; the accounts are still deleted. `abortSignal` also ends the deletion. */
export interface Settings extends Omit<ClientOptions, 'limits' | 'observer'> {
  /** Determines the names of the users. */
  seed: string;
  /** Returns whether to check the rule with this id. */
  selects: (id: string) => boolean;
  /** Returns whether the rule with this id is known to fail. */
  isKnown: (id: string) => boolean;
  /** Whether to check slow rules too. */
  slow: boolean;
  /** Whether to stop after the first failure that is not known. */
  bail: boolean;
  onProgress(done: number, total: number): void;
  /** Called before the accounts are deleted. Deletion may take long. */
  onRulesChecked(run: Run): Promise<void>;
}

type Verdict = 'passed' | 'failed' | 'skipped' | 'not-run';

interface Failure extends Partial<ExchangeDescription> {
  expected: string;
  actual?: string;
}

export interface Outcome {
  subject: string;
  id: string;
  sentence: string;
  verdict: Verdict;
  seconds: number;
  /** Whether the rule is known to fail. */
  known: boolean;
  failure?: Failure;
  /** The reason why the rule was skipped or not run. */
  reason?: string;
}

export interface Run {
  outcomes: Outcome[];
  counts: RequestCounts;
  /** The number of accounts that were registered, including deleted ones. */
  accounts: number;
  /** The ids of accounts that could not be deleted. */
  undeletedAccounts: number[];
  seconds: number;
  ended: 'complete' | 'bailed' | 'interrupted';
}

/** Returns whether an outcome makes the run fail. */
export const isUnexpectedFailure = ({ verdict, known }: Outcome) => verdict === 'failed' && !known;

/** The approximate number of requests of a run without slow rules, including account deletion. A test checks it. */
export const FULL_RUN_REQUESTS: RequestCounts = { strict: 780, general: 6800 };

/** A rule for each operation: see `isDocumentRule`. */
const documentRules = contract.map(({ id, method, path }) => ({
  operation: id,
  id: `document.${id}`,
  sentence: `Every response to ${method} ${path} has only a status, headers and a body that openapi.yaml declares for it.`,
}));

const documentRuleIds: ReadonlySet<string> = new Set(documentRules.map(({ id }) => id));

/** Returns whether a rule sends no requests, but checks the responses to those of all other rules. */
export const isDocumentRule = (id: string) => documentRuleIds.has(id);

const requestingRules = groups.flat().flatMap(({ rules }) => rules);

type ListedRule = Pick<Rule, 'id' | 'sentence' | 'slow'>;

export const allRules: readonly ListedRule[] = [...requestingRules, ...documentRules];

/**
 * Checks the selected rules, and deletes all accounts that they created.
 *
 * @throws NoResponseError if the service does not respond
 * @throws CommandError if it does not implement the contract or is too busy
 */
export async function run(settings: Settings): Promise<Run> {
  const { abortSignal, log, seed } = settings;
  const startedAt = performance.now();
  const bailController = new AbortController();
  const signal = AbortSignal.any([settings.signal, bailController.signal]);
  // Every request and every wait adds a listener.
  setMaxListeners(0, signal, abortSignal);

  const registry = createAccountRegistry();
  const documentCheck = createDocumentCheck();
  const observer: Observer = { onResponse: documentCheck.onResponse, onExchange: registry.onExchange };
  const createRunClient = (signal: AbortSignal) =>
    createClient({ ...settings, limits: createLimits(log, signal), observer, signal });
  const [client, cleanupClient] = [createRunClient(signal), createRunClient(abortSignal)];

  const selects = ({ id, slow }: ListedRule) => settings.selects(id) && (settings.slow || !slow);
  const selectedGroups = groups.map((subjects) =>
    subjects.map(({ name, rules }) => ({ name, rules: rules.filter(selects) })),
  );
  const total = selectedGroups.flat().flatMap(({ rules }) => rules).length;
  const results = new Map<string, Result>();

  async function checkSubject({ rules }: Subject, users: TestUsers) {
    for (const rule of rules) {
      if (signal.aborted) return;
      const result = await checkRule(rule, users);
      if (signal.aborted) return;
      results.set(rule.id, result);
      settings.onProgress(results.size, total);
      if (settings.bail && result.verdict === 'failed' && !settings.isKnown(rule.id)) bailController.abort();
    }
  }

  const outcome = (subject: string, { id, sentence }: ListedRule, result: Result): Outcome => ({
    subject,
    id,
    sentence,
    known: settings.isKnown(id),
    seconds: 0,
    ...result,
  });

  const howEnded = () =>
    settings.signal.aborted ? 'interrupted' : bailController.signal.aborted ? 'bailed' : 'complete';
  /** Set when the rules have been checked. A later interrupt affects only the deletion of the accounts. */
  let rulesEnded: Run['ended'] | undefined;

  async function summarize(undeletedAccounts: number[]): Promise<Run> {
    const ended = rulesEnded ?? howEnded();
    const notChecked = notRun(ended === 'bailed' ? 'an earlier rule failed' : 'the run was interrupted');
    const documentOutcomes = documentRules.filter(selects).map(async (rule) => {
      const result = await documentCheck.result(rule.operation);
      return outcome('The document', rule, result ?? (ended === 'complete' ? NOT_REQUESTED : notChecked));
    });
    const outcomes = selectedGroups
      .flat()
      .flatMap(({ name, rules }) => rules.map((rule) => outcome(name, rule, results.get(rule.id) ?? notChecked)));
    return {
      outcomes: [...outcomes, ...(await Promise.all(documentOutcomes))],
      counts: {
        strict: client.counts.strict + cleanupClient.counts.strict,
        general: client.counts.general + cleanupClient.counts.general,
      },
      accounts: registry.registeredCount(),
      undeletedAccounts,
      seconds: (performance.now() - startedAt) / 1000,
      ended,
    };
  }

  try {
    await recognize(client);
    log(estimate(client.limits.states, total));
    const users = createTestUsers(client, seed);
    for (const subjects of selectedGroups) await Promise.all(subjects.map((subject) => checkSubject(subject, users)));
    rulesEnded = howEnded();
    await settings.onRulesChecked(await summarize([]));
  } catch (error) {
    // After an interrupt, requests of `recognize` fail, and so do waits for a rate limit.
    if (!settings.signal.aborted) throw error;
  } finally {
    await client.idle();
    await registry.deleteAll(cleanupClient.send);
    client.close();
    cleanupClient.close();
  }
  return summarize(registry.undeleted());
}

/** `seconds` defaults to 0. */
type Result = Pick<Outcome, 'verdict' | 'failure' | 'reason'> & { seconds?: number };

const notRun = (reason: string): Result => ({ verdict: 'not-run', reason });
const NOT_REQUESTED: Result = { verdict: 'skipped', reason: 'none of the selected rules requests this operation' };

async function checkRule({ check }: Rule, users: TestUsers): Promise<Result> {
  const startedAt = performance.now();
  let result: Result = { verdict: 'passed' };
  try {
    await check(users);
  } catch (error) {
    result = await resultOfError(error);
  }
  return { ...result, seconds: (performance.now() - startedAt) / 1000 };
}

const resultOfError = async (error: unknown): Promise<Result> =>
  error instanceof SkippedError
    ? { verdict: 'skipped', reason: error.message }
    : { verdict: 'failed', failure: await failureOf(error) };

async function failureOf(error: unknown): Promise<Failure> {
  if (error instanceof NoResponseError) return { expected: 'a response', actual: error.message };
  // A rule threw because the response does not have the structure that it reads.
  if (!(error instanceof ExpectationError))
    return { expected: 'a response that the rule can read', actual: `${error}` };
  const { expected, actual, exchange } = error;
  return {
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
    async result(operation: string): Promise<Result | undefined> {
      const error = errors.get(operation);
      if (error) return resultOfError(error);
      return errors.has(operation) ? { verdict: 'passed' } : undefined;
    },
  };
}

/** Returns an estimate of the requests of the run, and of the time that the rate limits add. */
function estimate(states: Readonly<Record<Bucket, BucketState>>, ruleCount: number): string {
  const share = ruleCount / requestingRules.length;
  const needs = Object.entries(FULL_RUN_REQUESTS).map(([bucket, requests]) => {
    const count = Math.ceil(requests * share);
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
