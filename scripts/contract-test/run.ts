import { setMaxListeners } from 'node:events';
import { type Cast, createCast, createRegister } from './cast.js';
import {
  type Answer,
  type Client,
  type Counts,
  createClient,
  type Exchange,
  NoAnswer,
  type Observer,
} from './client.js';
import { contract } from './document.js';
import { type Bucket, createLimits, duration, type Standing } from './limits.js';
import { Broken, type Rule, Skipped, type Subject } from './rule.js';
import { groups } from './rules/index.js';

export interface Settings {
  baseUrl: URL;
  /** Decides the names of the people. */
  seed: string;
  /** For one answer, in milliseconds. */
  timeout: number;
  /** Which rules to check, by their names. */
  selects: (name: string) => boolean;
  say(line: string): void;
  progress(done: number, total: number): void;
  /** Ends the checking; what was made is deleted all the same. */
  signal: AbortSignal;
  /** Ends the deleting, too. */
  hurry: AbortSignal;
}

export interface Outcome {
  subject: string;
  rule: string;
  verdict: 'kept' | 'broken' | 'skipped';
  seconds: number;
  /** What the contract wants, or why the rule could not be checked. */
  remark?: string;
  exchange?: Exchange | undefined;
}

export interface Run {
  outcomes: Outcome[];
  counts: Counts;
  people: number;
  /** The ids of accounts that could not be deleted. */
  left: number[];
  seconds: number;
  interrupted: boolean;
}

/** How many requests it takes to check every rule once, and to delete everybody. A test holds this to be so, roughly. */
export const WHOLE_RUN: Counts = { strict: 140, general: 1150 };

export const ruleNames = (): string[] => [
  ...groups.flat().flatMap(({ rules }) => rules.map(({ name }) => name)),
  ...contract.map(({ id }) => documentRule(id)),
];

const documentRule = (id: string) =>
  `openapi.yaml, ${id}: every answer is one that the document declares, and nothing more`;

/**
 * Checks the rules on the service at this address, and deletes all accounts that it has made.
 *
 * @throws NoAnswer when there is no service
 */
export async function run(settings: Settings): Promise<Run> {
  const { signal, hurry, say, selects } = settings;
  const began = performance.now();
  const register = createRegister();
  const heard = listen();
  const observer: Observer = { ...heard, exchanged: register.exchanged };
  // Every request and every wait listens.
  for (const each of [signal, hurry]) setMaxListeners(0, each);
  const limits = createLimits(say, signal);
  const client = createClient({ ...settings, limits, observer });
  const cleaner = createClient({ ...settings, limits: createLimits(say, hurry), observer, signal: hurry });
  const outcomes: Outcome[] = [];
  let left: number[] = [];

  const chosen = groups.map((subjects) => subjects.map((subject) => narrowed(subject, selects)));
  const rules = chosen.flat().flatMap((subject) => subject.rules);
  try {
    await probe(client);
    say(forecast(limits.standings, rules.length));
    const cast = createCast(client, register, settings.seed);
    for (const subjects of chosen) {
      await Promise.all(
        subjects.map(async (subject) => {
          for (const rule of subject.rules) {
            if (signal.aborted) return;
            const outcome = await check(subject, rule, cast);
            if (!signal.aborted) outcomes.push(outcome);
            settings.progress(outcomes.length, rules.length);
          }
        }),
      );
    }
  } finally {
    left = await register.deleteAll(cleaner.ask);
    client.close();
    cleaner.close();
  }
  return {
    outcomes: [...inOrder(outcomes, rules), ...heard.outcomes(selects)],
    counts: {
      strict: client.counts.strict + cleaner.counts.strict,
      general: client.counts.general + cleaner.counts.general,
    },
    people: register.size,
    left,
    seconds: (performance.now() - began) / 1000,
    interrupted: signal.aborted,
  };
}

const narrowed = (subject: Subject, selects: Settings['selects']): Subject => ({
  ...subject,
  rules: subject.rules.filter(({ name }) => selects(name)),
});

/** One request of each bucket: whether anybody is there, and what the limits are. */
async function probe({ ask }: Client): Promise<void> {
  await ask('GET /auth/me');
  await ask('POST /auth/login', { json: {} });
}

async function check(subject: Subject, { name, check }: Rule, cast: Cast): Promise<Outcome> {
  const began = performance.now();
  const outcome = (verdict: Outcome['verdict'], more: Partial<Outcome> = {}): Outcome => ({
    subject: subject.name,
    rule: name,
    verdict,
    seconds: (performance.now() - began) / 1000,
    ...more,
  });
  try {
    await check(cast);
    return outcome('kept');
  } catch (error) {
    if (error instanceof Skipped) return outcome('skipped', { remark: error.message });
    if (error instanceof Broken) return outcome('broken', { remark: error.wanted, exchange: error.exchange });
    if (error instanceof NoAnswer) return outcome('broken', { remark: `an answer: ${error.message}` });
    // An answer so far from what was asked for that the rule fell over it.
    return outcome('broken', { remark: `an answer that can be read: ${error}` });
  }
}

/** Rules end in whatever order; they are reported in the order in which they are written. */
function inOrder(outcomes: Outcome[], rules: Rule[]): Outcome[] {
  const places = new Map(rules.map(({ name }, place) => [name, place]));
  return outcomes.sort((a, b) => (places.get(a.rule) ?? 0) - (places.get(b.rule) ?? 0));
}

/** Holds every answer of a run against the document: a rule for each operation that was asked for. */
function listen() {
  const answers = new Map<string, number>();
  const first = new Map<string, { breaches: string[]; exchange: Exchange }>();
  return {
    answered(operation: string, { exchange }: Answer, breaches: string[]) {
      answers.set(operation, (answers.get(operation) ?? 0) + 1);
      if (breaches.length > 0 && !first.has(operation)) first.set(operation, { breaches, exchange });
    },
    /** Of operations that were asked for by the way, only those that break it. */
    outcomes: (selects: Settings['selects']): Outcome[] =>
      contract
        .filter(({ id }) => first.has(id) || (answers.has(id) && selects(documentRule(id))))
        .map(({ id }) => {
          const broken = first.get(id);
          return {
            subject: 'The document',
            rule: documentRule(id),
            verdict: broken ? 'broken' : 'kept',
            seconds: 0,
            ...(broken && {
              remark: `what is declared; instead ${broken.breaches.join('; ')}`,
              exchange: broken.exchange,
            }),
          };
        }),
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
  const advice = `about ${duration(wait)} of waiting. RATE_LIMIT_MAX and RATE_LIMIT_STRICT_MAX, set high where tests run, spare that`;
  return `${rules} rules need about ${needs.map(({ text }) => text).join(' and ')}: ${wait > 0 ? advice : 'no waiting'}.`;
}
