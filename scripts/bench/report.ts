import { markdownTable } from '../table.js';
import { type StackName, tellGoal } from './goals.js';
import type { Machine } from './machine.js';
import type { Outcome } from './rounds.js';

/** Enough digits to tell figures apart, and no more. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

const MEBIBYTE = 2 ** 20;

const verdict = ({ holds }: Outcome) => (holds === undefined ? '' : holds ? 'yes' : 'NO');

/** What was answered with anything but 2xx, or not at all. */
export const failuresOf = ({ work, inFlight, subject, reference }: Outcome): string[] =>
  [subject, reference].flatMap(({ others }) =>
    Object.entries(others).map(([what, count]) => `${work.name}, ${inFlight} in flight: ${what} (${count} times)`),
  );

/** A row of the table: every figure beside its goal. */
export function rowOf(outcome: Outcome): Record<string, string> {
  const { work, inFlight, goal, ratio, subject, reference } = outcome;
  return {
    Work: work.title,
    'In flight': String(inFlight),
    'As a share of': work.against === undefined ? work.yardstick : `${work.yardstick}, against ${work.against}`,
    Ratio: figure(ratio.median),
    'Least–most': `${figure(ratio.least)}–${figure(ratio.most)}`,
    Goal: tellGoal(goal),
    Holds: verdict(outcome),
    'req/s': figure(subject.rate),
    'req/s there': figure(reference.rate),
    'p50 ms': figure(subject.p50),
    'p99 ms': figure(subject.p99),
    'CPU s per 1,000': figure(subject.cpu),
    'RSS MiB': figure(subject.memory / MEBIBYTE),
  };
}

const TITLES: Record<StackName, string> = {
  embedded: 'embedded stores',
  services: 'PostgreSQL, Neo4j and S3',
};

const YARDSTICKS = `**Y0** is a bare Fastify that sends the same 20 posts from memory through the contract's serializer; **Y1** the same
after a look at the token and one query for its session; **Y2** @node-rs/argon2 alone, with the service's parameters and as
many at once; **Y3** a bare Fastify that streams a file of 256 KiB to the disk and back. A ratio is the service's requests
per second by the yardstick's in the same round; shown is the median of the rounds, with the least and the most. A work
"against" another has its ratio told as a share of that one's. The processor's time and the memory are of the service's own
process, not of the stores it asks.`;

interface Page {
  stack: StackName;
  machine: Machine;
  outcomes: readonly Outcome[];
  rounds: number;
  seconds: number;
}

/** The page of one stack. */
export function pageOf({ stack, machine, outcomes, rounds, seconds }: Page): string {
  const failures = outcomes.flatMap(failuresOf);
  const busy = Math.max(...outcomes.flatMap(({ subject, reference }) => [subject.busy, reference.busy]));
  return `<!-- Written by \`npm run bench -- --stack ${stack}\`. Do not edit. -->

# Speed on ${TITLES[stack]}

${machine.processor}; Node ${machine.node}; ${machine.stores}; commit ${machine.commit}; ${machine.date}. ${rounds} rounds of
${seconds} s, in turn with the yardstick. The load generator shares the machine; it took up to ${figure(busy)} of one core.

![Ratios beside their goals](${stack}.svg)

${markdownTable(outcomes.map(rowOf))}

${failures.length > 0 ? `Not answered as asked: ${failures.join('; ')}.\n\n` : ''}${YARDSTICKS}
`;
}

/** What the README says of one stack. */
export function lineOf(stack: StackName, outcomes: readonly Outcome[]): string {
  const ratios = (name: string) => {
    const of = outcomes.filter(({ work }) => work.name === name);
    return of.map(({ ratio, inFlight }) => `${figure(ratio.median)} at ${inFlight}`).join(', ');
  };
  const feed = outcomes.filter(({ work }) => work.name === 'feed').at(-1);
  const rate = feed ? `, ${figure(feed.subject.rate)} a second` : '';
  return `- On ${TITLES[stack]}, \`GET /posts\` reaches ${ratios('feed')} in flight${rate}, \`GET /auth/me\` ${ratios('me')}.`;
}
