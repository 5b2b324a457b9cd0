import { parseArgs } from 'node:util';
import { openBareStores } from '../../db/stores.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { explain } from '../explain.js';
import { openBar } from '../progress.js';
import { table } from '../table.js';
import { type Finding, type Progress, type Verdict, verify, type Waiting } from './verify.js';

/** The process's exit code. */
const AGREE = 0;
const DISAGREE = 1;
const UNREADABLE = 2;

/** From how many things on progress is shown even where nobody watches it. */
const LARGE = 100_000;

function progressBar(): Progress {
  let bar: ReturnType<typeof openBar> | undefined;
  return {
    begin(subject, expected) {
      if (process.stderr.isTTY || expected >= LARGE) bar = openBar(subject, expected);
    },
    advance(by) {
      bar?.increment(by);
    },
    end() {
      bar?.stop();
      bar = undefined;
    },
  };
}

const left = ({ found, mended }: Finding) => found - mended;
const isNote = ({ rule }: Finding) => rule.note === true;

function print({ findings, waiting }: Verdict, repair: boolean): void {
  console.log(table(findings.map((finding) => rowOf(finding, repair))));
  console.log(`\n${waiting.length > 0 ? table(waiting.map(waitingRow)) : 'Nothing waits in the outbox.'}\n`);
  for (const { rule, mended } of findings)
    if (mended > 0) console.log(`Mended: ${rule.says}: ${rule.remedy} (${mended}).`);
  for (const finding of findings.filter(left)) console.log(remark(finding, repair));
  console.log(conclusion(findings));
}

function rowOf(finding: Finding, repair: boolean): Record<string, string> {
  const { rule, found, mended, examples } = finding;
  return {
    rule: rule.says,
    holds: verdictOf(finding),
    found: String(found),
    ...(repair && { mended: String(mended) }),
    examples: `${examples.join('; ')}${found > examples.length ? '; …' : ''}`,
  };
}

function verdictOf(finding: Finding): string {
  if (finding.found === 0) return 'yes';
  if (isNote(finding)) return 'note';
  return left(finding) > 0 ? 'NO' : 'mended';
}

function waitingRow({ kind, for: what, count, attempts, since }: Waiting): Record<string, string> {
  return {
    'in the outbox': kind,
    'waits for': what,
    entries: String(count),
    'most attempts': String(attempts),
    since,
  };
}

function remark(finding: Finding, repair: boolean): string {
  const { rule } = finding;
  const advice =
    rule.advice ?? (repair ? 'it waits in the outbox for another try' : 'npm run verify -- --repair mends it');
  return `${isNote(finding) ? 'Note' : 'Left'}: ${rule.says}: ${left(finding)} not so; ${advice}.`;
}

function conclusion(findings: readonly Finding[]): string {
  const broken = findings.filter((finding) => left(finding) > 0 && !isNote(finding));
  if (broken.length === 0) return 'The stores agree.';
  return `The stores disagree: ${broken.length} of ${findings.length} rules do not hold.`;
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: { repair: { type: 'boolean', default: false } } });
  const config = readConfig(process.env);
  // Standard output is for the tables.
  const log = createLogger(config.logLevel, process.stderr);
  const stores = await openBareStores(config.stores, log);
  try {
    const verdict = await verify(stores, { repair: values.repair, log, progress: progressBar() });
    print(verdict, values.repair);
    return verdict.findings.some((finding) => left(finding) > 0 && !isNote(finding)) ? DISAGREE : AGREE;
  } finally {
    await stores.close();
  }
}

process.exitCode = await run().catch((error) => {
  console.error(explain(error));
  return UNREADABLE;
});
