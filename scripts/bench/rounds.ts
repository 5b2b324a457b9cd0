import pidusage from 'pidusage';
import { ask, type Server } from './children.js';
import type { Data } from './data.js';
import { type Goal, goalOf, holds, type StackName } from './goals.js';
import { type Measured, measure } from './measure.js';
import { median, rotated, type Spread, spreadOf } from './statistics.js';
import { FEED, type Question, type ServerName, type Work } from './works.js';
import type { PasswordJob } from './yardsticks/passwords.js';

/** What one work has come to at one number of requests in flight. */
export interface Outcome {
  work: Work;
  inFlight: number;
  goal: Goal | undefined;
  /** Of the rounds, or of the rounds to the median of the work it is held against. */
  ratio: Spread;
  subject: Measured;
  reference: Measured;
  holds: boolean | undefined;
}

export interface Course {
  stack: StackName;
  rounds: number;
  seconds: number;
  /** What is run before anything counts: on each set of data, and by each contender before its first round. In seconds. */
  warmUp: { stores: number; contender: number };
  /** Of the work about memory. */
  minutes: number;
}

export type Servers = Readonly<Partial<Record<ServerName, Server>>>;

type Run = (seconds: number) => Promise<Measured>;

/** Runs the rounds of one work, subject and reference in turn. */
export async function play(
  { work, inFlight, data, servers, against }: PlayOf,
  course: Course,
  advance: () => void,
): Promise<Outcome> {
  const runs = {
    subject: await runOf(work.subject, inFlight, data, servers),
    reference: await runOf(work.reference, inFlight, data, servers),
  };
  const taken: Record<keyof typeof runs, Measured[]> = { subject: [], reference: [] };
  const names = ['subject', 'reference'] as const;
  const { contender } = course.warmUp;
  if (contender > 0) for (const name of names) await runs[name](contender);
  for (let round = 0; round < course.rounds; round += 1) {
    for (const name of rotated(names, round)) {
      taken[name].push(await runs[name](course.seconds));
      advance();
    }
  }
  const ratios = taken.subject.map(({ rate }, round) => rate / (taken.reference[round]?.rate ?? Number.NaN));
  const ratio = spreadOf(ratios.map((each) => each / (against ?? 1)));
  return outcome(course.stack, work, inFlight, ratio, summary(taken.subject), summary(taken.reference));
}

interface PlayOf {
  work: Work;
  inFlight: number;
  data: Data;
  servers: Servers;
  /** The median ratio of the work that this one is held against. */
  against: number | undefined;
}

/** How much of the first half's memory the second half takes, after a tenth of the time to get warm. */
export async function playMemory({ work, inFlight, data, servers }: PlayOf, course: Course): Promise<Outcome> {
  const server = servers.service;
  if (!server) throw new Error('the service is not up');
  const samples: number[] = [];
  const timer = setInterval(() => {
    pidusage(server.pid).then(
      ({ memory }) => samples.push(memory),
      () => undefined,
    );
  }, 1000);
  const run = await runOf(work.subject, inFlight, data, servers);
  const measured = await run(course.minutes * 60).finally(() => clearInterval(timer));
  const warm = samples.slice(Math.floor(samples.length / 10));
  const half = Math.floor(warm.length / 2);
  const first = median(warm.slice(0, half));
  const ratio = spreadOf(warm.slice(half).map((memory) => memory / first));
  return outcome(course.stack, work, inFlight, ratio, measured, { ...measured, memory: first });
}

function outcome(
  stack: StackName,
  work: Work,
  inFlight: number,
  ratio: Spread,
  subject: Measured,
  reference: Measured,
): Outcome {
  const goal = goalOf(stack, work.name, inFlight);
  return { work, inFlight, goal, ratio, subject, reference, holds: holds(goal, ratio, subject) };
}

async function runOf(question: Work['reference'], inFlight: number, data: Data, servers: Servers): Promise<Run> {
  if (question === 'passwords') {
    const { passwordHash: hash, password } = data;
    return (seconds) =>
      ask<Measured>('./yardsticks/passwords.js', { hash, password, inFlight, seconds } satisfies PasswordJob);
  }
  const server = servers[question.of];
  if (!server) throw new Error(`${question.of} is not up`);
  const job = await jobOf(question, inFlight, data, server);
  const beside = question.beside && (await jobOf(question.beside, CROWD, data, server));
  return async (seconds) => {
    // It begins earlier and ends later than what is measured.
    const flood = beside && ask('./load.js', { ...beside, url: server.url, seconds: seconds + 2 });
    const measured = await measure(server, { ...job, seconds });
    await flood;
    return measured;
  };
}

/** Asks what most works ask, until the stores are as quick as they get: a Neo4j that has just started takes a while. */
export async function warmStores(data: Data, servers: Servers, seconds: number): Promise<void> {
  if (seconds > 0) await (await runOf(FEED, CROWD, data, servers))(seconds);
}

/** How many warm the stores at once, or log in while others read. */
const CROWD = 32;

async function jobOf(question: Question, inFlight: number, data: Data, server: Server) {
  const { amount } = question;
  return { inFlight, turns: await question.turns(data, server.url), ...(amount !== undefined && { amount }) };
}

/** The medians, and everything that went wrong. */
function summary(measured: readonly Measured[]): Measured {
  const of = (name: 'rate' | 'p50' | 'p99' | 'cpu' | 'memory' | 'busy') => median(measured.map((each) => each[name]));
  const others: Record<string, number> = {};
  for (const [what, count] of measured.flatMap((each) => Object.entries(each.others))) {
    others[what] = (others[what] ?? 0) + count;
  }
  return {
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    cpu: of('cpu'),
    memory: of('memory'),
    busy: of('busy'),
    others,
  };
}
