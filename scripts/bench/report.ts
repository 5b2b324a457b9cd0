import { markdownTable } from '../table.js';
import { formatGoal, type StackName } from './goals.js';
import type { Machine } from './machine.js';
import type { Outcome } from './rounds.js';

/** Formats a number with three significant digits, or as an integer from 100 on. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

const MEBIBYTE = 2 ** 20;

const formatGoalMet = ({ goalMet }: Outcome) => (goalMet === undefined ? '' : goalMet ? 'yes' : 'NO');

/** Returns descriptions of the responses without a 2xx status and the requests without a response. */
export const failuresOf = ({ workload, inFlight, subject, baseline }: Outcome): string[] =>
  [subject, baseline].flatMap(({ failures }) =>
    Object.entries(failures).map(
      ([failure, count]) => `${workload.name}, ${inFlight} in flight: ${failure} (${count} times)`,
    ),
  );

export function tableRow(outcome: Outcome): Record<string, string> {
  const { workload, inFlight, goal, ratio, subject, baseline } = outcome;
  return {
    Workload: workload.title,
    'In flight': String(inFlight),
    Baseline:
      workload.relativeTo === undefined
        ? workload.baselineLabel
        : `${workload.baselineLabel}, relative to ${workload.relativeTo}`,
    Ratio: formatFigure(ratio.median),
    'Min–max': `${formatFigure(ratio.min)}–${formatFigure(ratio.max)}`,
    Goal: formatGoal(goal),
    Met: formatGoalMet(outcome),
    'req/s': formatFigure(subject.rate),
    'Baseline req/s': formatFigure(baseline.rate),
    'p50 ms': formatFigure(subject.p50),
    'p99 ms': formatFigure(subject.p99),
    'CPU ms/request': formatFigure(subject.cpuMs),
    'RSS MiB': formatFigure(subject.rssBytes / MEBIBYTE),
  };
}

const TITLES: Record<StackName, string> = {
  embedded: 'embedded stores',
  services: 'PostgreSQL, Neo4j and S3',
};

const NOTES = `Baselines:

- **B0**: a bare Fastify server that sends the same 20 posts from memory with the contract's serializer
- **B1**: the same, after verifying the token and querying its session
- **B2**: @node-rs/argon2 alone, with the service's parameters and concurrency
- **B3**: a bare Fastify server that streams a file of 256 KiB to disk and back

A ratio is the service's requests per second divided by the baseline's in the same round; the table shows the median, minimum
and maximum of the rounds. "Relative to" another workload: divided by the median ratio of that workload. CPU time and memory
are those of the service's process, without the stores.`;

interface Page {
  stack: StackName;
  machine: Machine;
  outcomes: readonly Outcome[];
  rounds: number;
  seconds: number;
}

/** Returns the results page of one stack, in Markdown. */
export function renderPage({ stack, machine, outcomes, rounds, seconds }: Page): string {
  const failures = outcomes.flatMap(failuresOf);
  const generatorCpuShare = Math.max(
    ...outcomes.flatMap(({ subject, baseline }) => [subject.generatorCpuShare, baseline.generatorCpuShare]),
  );
  return `<!-- Written by \`npm run bench -- --stack ${stack}\`. Do not edit. -->

# Speed on ${TITLES[stack]}

${machine.processor}; Node ${machine.node}; ${machine.stores}; commit ${machine.commit}; ${machine.date}. ${rounds} rounds of
${seconds} s, alternating with the baseline. The load generator ran on the same machine and used up to ${formatFigure(generatorCpuShare)} of one core.

![Ratios and goals](${stack}.svg)

${markdownTable(outcomes.map(tableRow))}

${failures.length > 0 ? `Failed requests: ${failures.join('; ')}.\n\n` : ''}${NOTES}
`;
}

/** Returns the README's line about one stack. */
export function renderReadmeLine(stack: StackName, outcomes: readonly Outcome[]): string {
  const ratios = (name: string) => {
    const selected = outcomes.filter(({ workload }) => workload.name === name);
    return selected.map(({ ratio, inFlight }) => `${formatFigure(ratio.median)} at ${inFlight}`).join(', ');
  };
  const feed = outcomes.filter(({ workload }) => workload.name === 'feed').at(-1);
  const rate = feed ? ` (${formatFigure(feed.subject.rate)} requests per second)` : '';
  return `- On ${TITLES[stack]}, \`GET /posts\` reaches ${ratios('feed')} requests in flight${rate}, \`GET /auth/me\` ${ratios('me')}.`;
}
