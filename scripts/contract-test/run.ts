import { setMaxListeners } from 'node:events';
import { type Counts, createClient, NoResponseError, type Observer } from './client.js';
import { contract } from './document.js';
import {
  type CheckedResponse,
  type DescribedExchange,
  describeExchange,
  type Exchange,
  maskSecrets,
  shorten,
} from './exchange.js';
import { ExpectationError, SkippedError } from './expect.js';
import { type Bucket, createLimits, duration, type Standing } from './limits.js';
import { recognize } from './recognize.js';
import type { Rule, Subject } from './rule.js';
import { groups } from './rules/index.js';
import { createAccountRegistry, createTestUsers, type TestUsers } from './users.js';

export interface Settings {
  /** May have a path, which then comes before the paths of the contract. */
  baseUrl: URL;
  /** Decides the names of the users. */
  seed: string;
  /** For one response, in milliseconds. */
  timeout: number;
  /** Which rules to check, by their ids. */
  selects: (id: string) => boolean;
  /** Which rules are known to fail, by their ids. */
  isKnown: (id: string) => boolean;
  /** Whether to check slow rules too. */
  slow: boolean;
  /** Whether to stop after the first failure that is not known. */
  bail: boolean;
  say(line: string): void;
  progress(done: number, total: number): void;
  /** Called after the last rule, before the accounts are deleted, which can take long. */
  checked(run: Run): Promise<void>;
  /** Stops checking; the accounts are deleted all the same. */
  signal: AbortSignal;
  /** Stops deleting, too. */
  hurry: AbortSignal;
}

export type Verdict = 'passed' | 'failed' | 'skipped' | 'not-run';

export interface Failure extends Partial<DescribedExchange> {
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
  /** Why the rule was not checked. */
  reason?: string;
}

export interface Run {
  outcomes: Outcome[];
  counts: Counts;
  people: number;
  /** The ids of accounts that could not be deleted. */
  left: number[];
  seconds: number;
  ended: 'complete' | 'bailed' | 'interrupted';
}

/** What makes a run fail. */
export const isUnexpectedFailure = ({ verdict, known }: Outcome) => verdict === 'failed' && !known;

/** How many requests it takes to check every rule once, and to delete everybody. A test holds this to be so, roughly. */
export const WHOLE_RUN: Counts = { strict: 640, general: 5200 };

/** A rule for each operation of the document, which every response of a run is checked against. */
const documentRules = contract.map(({ id, method, path }) => ({
  operation: id,
  id: `document.${id}`,
  sentence: `Every response to ${method} ${path} has a status, headers and a body that openapi.yaml declares for it, and nothing else.`,
}));

export const allRules: readonly Pick<Rule, 'id' | 'sentence' | 'slow'>[] = [
  ...groups.flat().flatMap(({ rules }) => rules),
  ...documentRules,
];

/**
 * Checks the rules on the service at this address, and deletes all accounts that it has made.
 *
 * @throws NoAnswer when there is no service
 * @throws PlainError when it is another one
 */
export async function run(settings: Settings): Promise<Run> {
  const { hurry, say, seed } = settings;
  const began = performance.now();
  const bail = new AbortController();
  const signal = AbortSignal.any([settings.signal, bail.signal]);
  // Every request and every wait listens.
  for (const each of [signal, hurry]) setMaxListeners(0, each);

  const register = createAccountRegistry();
  const documentCheck = createDocumentCheck();
  const observer: Observer = { answered: documentCheck.answered, exchanged: register.exchanged };
  const limits = createLimits(say, signal);
  const client = createClient({ ...settings, limits, observer, signal });
  const cleaner = createClient({ ...settings, limits: createLimits(say, hurry), observer, signal: hurry });

  const selects = ({ id, slow }: (typeof allRules)[number]) => settings.selects(id) && (settings.slow || !slow);
  const chosen = groups.map((subjects) => subjects.map(({ name, rules }) => ({ name, rules: rules.filter(selects) })));
  const total = chosen.flat().flatMap(({ rules }) => rules).length;
  const results = new Map<string, Result>();

  async function checkSubject({ rules }: Subject, cast: TestUsers) {
    for (const rule of rules) {
      if (signal.aborted) return;
      const result = await check(rule, cast);
      if (signal.aborted) return;
      results.set(rule.id, result);
      settings.progress(results.size, total);
      if (settings.bail && result.verdict === 'failed' && !settings.isKnown(rule.id)) bail.abort();
    }
  }

  const outcome = (subject: string, { id, sentence }: (typeof allRules)[number], result: Result): Outcome => ({
    ...{ subject, id, sentence, known: settings.isKnown(id) },
    ...result,
  });

  async function summarize(left: number[]): Promise<Run> {
    const ended = settings.signal.aborted ? 'interrupted' : bail.signal.aborted ? 'bailed' : 'complete';
    const unchecked = notRun(ended === 'bailed' ? 'an earlier rule failed' : 'the run was interrupted');
    const ofDocument = documentRules.filter(selects).map(async (rule) => {
      return outcome(
        'The document',
        rule,
        (await documentCheck.result(rule.operation)) ?? (ended === 'complete' ? UNREQUESTED : unchecked),
      );
    });
    return {
      outcomes: [
        ...chosen
          .flat()
          .flatMap(({ name, rules }) => rules.map((rule) => outcome(name, rule, results.get(rule.id) ?? unchecked))),
        ...(await Promise.all(ofDocument)),
      ],
      counts: {
        strict: client.counts.strict + cleaner.counts.strict,
        general: client.counts.general + cleaner.counts.general,
      },
      people: register.size,
      left,
      seconds: (performance.now() - began) / 1000,
      ended,
    };
  }

  try {
    await recognize(client);
    say(forecast(limits.standings, total));
    const cast = createTestUsers(client, register, seed);
    for (const subjects of chosen) await Promise.all(subjects.map((subject) => checkSubject(subject, cast)));
    await settings.checked(await summarize([]));
  } finally {
    await client.idle();
    await register.deleteAll(cleaner.send);
    client.close();
    cleaner.close();
  }
  return summarize(register.left());
}

type Result = Pick<Outcome, 'verdict' | 'seconds' | 'failure' | 'reason'>;

const notRun = (reason: string): Result => ({ verdict: 'not-run', seconds: 0, reason });
const UNREQUESTED: Result = {
  verdict: 'skipped',
  seconds: 0,
  reason: 'none of the selected rules requests this operation',
};

async function check({ check }: Rule, cast: TestUsers): Promise<Result> {
  const began = performance.now();
  const result = (verdict: Verdict, more: Partial<Result> = {}): Result => ({
    verdict,
    seconds: (performance.now() - began) / 1000,
    ...more,
  });
  try {
    await check(cast);
    return result('passed');
  } catch (error) {
    if (error instanceof SkippedError) return result('skipped', { reason: error.message });
    return result('failed', { failure: await describeFailure(error) });
  }
}

async function describeFailure(error: unknown): Promise<Failure> {
  if (error instanceof NoResponseError) return { expected: 'a response', actual: error.message };
  // A response so far from what was requested that the rule cannot read it.
  if (!(error instanceof ExpectationError))
    return { expected: 'a response that the rule can read', actual: `${error}` };
  const { expected, actual, exchange } = error;
  return {
    expected: readable(expected),
    ...(actual !== undefined && { actual: readable(actual) }),
    ...(exchange && (await describeExchange(exchange))),
  };
}

const readable = (text: string) => shorten(maskSecrets(text), 800);

/** Checks every response of a run against the document. */
function createDocumentCheck() {
  const requested = new Set<string>();
  const failures = new Map<string, { breaches: string[]; exchange: Exchange }>();
  return {
    answered(operation: string, { exchange }: CheckedResponse, breaches: string[]) {
      requested.add(operation);
      if (breaches.length > 0 && !failures.has(operation)) failures.set(operation, { breaches, exchange });
    },
    /** Undefined if there was no response of this operation. */
    async result(operation: string): Promise<Result | undefined> {
      const found = failures.get(operation);
      if (!found) return requested.has(operation) ? { verdict: 'passed', seconds: 0 } : undefined;
      const broken = new ExpectationError('what openapi.yaml declares', found.exchange, found.breaches.join('; '));
      return { verdict: 'failed', seconds: 0, failure: await describeFailure(broken) };
    },
  };
}

/** What the run will need, and how long that takes at the limits that the service has told. */
function forecast(standings: Readonly<Record<Bucket, Standing>>, rules: number): string {
  const share = rules / groups.flat().flatMap((subject) => subject.rules).length;
  const needs = Object.entries(WHOLE_RUN).map(([bucket, requests]) => {
    const count = Math.ceil(requests * share);
    const { limit, remaining = 0, resetsAt = Date.now() } = standings[bucket as Bucket];
    if (limit === undefined) return { text: `${count} ${bucket} requests (whose limit is not told)`, wait: 0 };
    // A window is at least as long as what is left of this one.
    const windows = Math.max(0, Math.ceil((count - remaining) / limit));
    return {
      text: `${count} ${bucket} requests (${limit} in a window)`,
      wait: windows * Math.max(0, resetsAt - Date.now()),
    };
  });
  const wait = Math.max(...needs.map((need) => need.wait));
  const advice = `about ${duration(wait)} of waiting, less with higher RATE_LIMIT_MAX and RATE_LIMIT_STRICT_MAX`;
  return `${rules} rules need about ${needs.map(({ text }) => text).join(' and ')}: ${wait > 0 ? advice : 'no waiting'}.`;
}
