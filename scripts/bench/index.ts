import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { explain } from '../explain.js';
import { openProgress, type Progress } from '../progress.js';
import { servers as serviceServers } from '../services/servers.js';
import { table } from '../table.js';
import { chartOf } from './chart.js';
import { endChildren } from './children.js';
import { type Data, FULL, makeData, type Size, SMALL } from './data.js';
import type { StackName } from './goals.js';
import { describeMachine } from './machine.js';
import { withSpeed } from './readme.js';
import { failuresOf, lineOf, pageOf, rowOf } from './report.js';
import { type Course, type Outcome, play, playMemory, warmStores } from './rounds.js';
import { withServers } from './servers.js';
import { openStack, type Stack } from './stack.js';
import { selectWorks, WORKS, type Work } from './works.js';

const USAGE = `npm run bench -- [--stack embedded|services] [--only NAME] [--quick] [--rounds N] [--seconds N] [--minutes N] [--write]

Compares the service with the least that a Node process could do instead, in turns. A full run, or --write, writes the page, the
chart and the lines in README.md. --quick takes little data and few requests: it judges whether answers are right, and no times.
--minutes is for --only memory. NAME is one of ${WORKS.map(({ name }) => name).join(', ')}.`;

const RESULTS = join('scripts', 'bench', 'results');

class BenchError extends Error {}

interface Options {
  stack: StackName;
  works: Work[];
  size: Size;
  course: Course;
  write: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      stack: { type: 'string', default: 'embedded' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      write: { type: 'boolean' },
    },
  });
  const { stack, only, quick } = values;
  if (stack !== 'embedded' && stack !== 'services') throw new BenchError(USAGE);
  const number = (name: 'rounds' | 'seconds' | 'minutes', otherwise: number) => {
    const value = Number(values[name] ?? otherwise);
    if (!(value > 0)) throw new BenchError(`--${name}: "${values[name]}" is no number above 0`);
    return value;
  };
  const works = selectWorks(only);
  if (works.length === 0) throw new BenchError(USAGE);
  return {
    stack,
    works: quick ? works.map((work) => ({ ...work, inFlight: QUICK_IN_FLIGHT })) : works,
    size: quick ? SMALL : FULL,
    course: {
      stack,
      rounds: number('rounds', quick ? 1 : 5),
      seconds: number('seconds', quick ? 1 : 5),
      warmUp: quick ? { stores: 0, contender: 0 } : { stores: 20, contender: 2 },
      minutes: number('minutes', 10),
    },
    write: values.write ?? !(quick || only !== undefined),
  };
}

const QUICK_IN_FLIGHT = [8];

/** How much of what is wrong is printed. */
const EXAMPLES = 20;

interface Found {
  outcomes: Outcome[];
  /** What was answered wrongly, before anything was measured. */
  problems: string[];
  postgres: string;
}

async function runAll({ works, size, course }: Options, stack: Stack, progress: Progress): Promise<Found> {
  const found: Found = { outcomes: [], problems: [], postgres: '' };
  for (const name of new Set(works.map(({ data }) => data))) {
    const data = await makeData(name, size, await stack.fresh(), progress.show);
    found.postgres = data.postgres;
    const ofData = works.filter((work) => work.data === name);
    await withServers(data, ofData, stack.folder, async (servers, problems) => {
      found.problems.push(...problems);
      // Wrong answers may be quick ones.
      if (problems.length > 0) return;
      progress.show(`${name}: warming up`, 0, 1);
      await warmStores(data, servers, course.warmUp.stores);
      for (const work of ofData) {
        for (const inFlight of work.inFlight) {
          found.outcomes.push(await runOne(work, inFlight, data, servers, course, found.outcomes, progress));
        }
      }
    });
    if (found.problems.length > 0) break;
  }
  return found;
}

async function runOne(
  work: Work,
  inFlight: number,
  data: Data,
  servers: Parameters<typeof play>[0]['servers'],
  course: Course,
  before: readonly Outcome[],
  progress: Progress,
): Promise<Outcome> {
  const base = before.find((outcome) => outcome.work.name === work.against && outcome.inFlight === inFlight);
  const step = `${work.name}, ${inFlight} in flight`;
  const total = 2 * course.rounds;
  let done = 0;
  progress.show(step, done, total);
  const subject = { work, inFlight, data, servers, against: base?.ratio.median };
  if (work.name === 'memory') return playMemory(subject, course);
  return play(subject, course, () => progress.show(step, ++done, total));
}

function tell({ outcomes, problems: wrong }: Found, little: boolean): void {
  const problems = [...wrong.map((problem) => `WRONG: ${problem}`), ...outcomes.flatMap(failuresOf)];
  if (outcomes.length > 0) console.log(table(outcomes.map(rowOf)));
  if (little) console.log('\nWith little data and few requests: no figure here says anything about speed.');
  for (const problem of problems.slice(0, EXAMPLES)) console.error(problem);
  if (problems.length > EXAMPLES) console.error(`… and ${problems.length - EXAMPLES} more`);
}

/** The page, the chart, and what the README says. */
async function write({ stack, course }: Options, { outcomes, postgres }: Found): Promise<void> {
  const real = `PostgreSQL ${postgres}, Neo4j ${serviceServers.neo4j.version()}, S3 by ${serviceServers.s3.title}`;
  const machine = describeMachine(stack === 'embedded' ? `PGlite with PostgreSQL ${postgres}` : real);
  await mkdir(RESULTS, { recursive: true });
  await writeFile(join(RESULTS, `${stack}.md`), pageOf({ ...course, machine, outcomes }));
  await writeFile(join(RESULTS, `${stack}.svg`), chartOf(outcomes));
  const where = `- Measured on ${machine.processor}, Node ${machine.node}, at commit ${machine.commit}: [embedded](scripts/bench/results/embedded.md), [real servers](scripts/bench/results/services.md).`;
  await writeFile('README.md', withSpeed(await readFile('README.md', 'utf8'), stack, lineOf(stack, outcomes), where));
}

/** Ends by the next step after a signal, so that what was made is removed on the way out. */
function interruptible({ show, end }: Progress): Progress {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      interrupted = true;
      endChildren();
    });
  }
  return {
    show(...step) {
      if (interrupted) throw new BenchError('interrupted');
      show(...step);
    },
    end,
  };
}

async function main(): Promise<number> {
  const options = readOptions();
  const progress = interruptible(openProgress());
  const stack = await openStack(options.stack);
  try {
    const found = await runAll(options, stack, progress);
    progress.end();
    tell(found, options.size === SMALL);
    const wrong = found.problems.length > 0;
    if (options.write && !wrong) await write(options, found);
    return wrong || found.outcomes.some((outcome) => failuresOf(outcome).length > 0) ? 1 : 0;
  } finally {
    progress.end();
    endChildren();
    await stack.close();
  }
}

process.exitCode = await main().catch((error) => {
  console.error(error instanceof BenchError ? error.message : explain(error));
  return 2;
});
