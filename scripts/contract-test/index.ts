import { randomBytes } from 'node:crypto';
import { access, constants, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { createCommand, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { createProgressDisplay } from '../support/progress.js';
import { version } from './document.js';
import { junitReport } from './junit.js';
import { jsonReport, markdownReport, textReport } from './report.js';
import { allRules, isDocumentRule, isUnexpectedFailure, type Run, run } from './run.js';
import { idMatcher, readFailedIds, readIdList } from './selection.js';

interface ContractTestOptions {
  baseUrl?: URL;
  only: string[];
  skip: string[];
  onlyFailed?: string;
  knownFailures?: string;
  slow?: boolean;
  bail?: boolean;
  junit?: string;
  json?: string;
  markdown?: string;
  seed?: string;
  timeout: number;
  list?: boolean;
}

const DETAILS = `
A pattern is a rule id (posts.list.offset.feed) or a prefix of it up to a dot (posts.list); * matches any characters.
Exit codes: 0 no failures except known ones, 1 a rule failed, 2 no rule was checked, 130 interrupted.`;

/** Exit codes of the process. */
const PASSED = 0;
const FAILED = 1;
const NOT_RUN = 2;
/** The exit code that shells report for Ctrl-C: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && Number.isFinite(seconds))) throw new InvalidArgumentError('It must be a positive number.');
  return seconds;
}

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}${url.pathname}`)
    throw new InvalidArgumentError('It must be an http or https URL without query and credentials.');
  return url;
}

/** Returns the ids of the rules to check. */
async function selectIds({ only, skip, onlyFailed, slow }: ContractTestOptions): Promise<Set<string>> {
  const rules = allRules.filter((rule) => slow || !rule.slow);
  for (const pattern of [...only, ...skip]) {
    if (!allRules.some(({ id }) => idMatcher([pattern])(id)))
      throw new CommandError(`no rule has an id like "${pattern}"`);
  }
  const failed = onlyFailed === undefined ? undefined : await readFailedIds(onlyFailed);
  if (failed?.length === 0) throw new CommandError(`${onlyFailed}: no rule failed`);
  const selectsAll = failed === undefined || failed.some(isDocumentRule);
  const [isWanted, isSkipped] = [only.length > 0 ? idMatcher(only) : () => true, idMatcher(skip)];
  const ids = rules
    .map(({ id }) => id)
    .filter((id) => isWanted(id) && !isSkipped(id) && (selectsAll || failed.includes(id)));
  if (ids.length === 0) throw new CommandError('no rule is selected; slow rules need --slow');
  return new Set(ids);
}

/** A second signal within this time is the same Ctrl-C, which npm has passed on too. */
const SAME_INTERRUPT_MS = 1000;

/** Returns abort signals: the first Ctrl-C stops the checks, the second one the deletion of the accounts. */
function interruptSignals() {
  const [checking, deleting] = [new AbortController(), new AbortController()];
  let interruptedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruptedAt === undefined) {
        interruptedAt = performance.now();
        console.error('Interrupted: deleting the accounts of the run. Press Ctrl-C again to leave them.');
        checking.abort();
      } else if (performance.now() - interruptedAt > SAME_INTERRUPT_MS) deleting.abort();
    });
  }
  return { signal: checking.signal, abortSignal: deleting.signal };
}

const REPORTS = [
  ['junit', junitReport],
  ['json', jsonReport],
  ['markdown', markdownReport],
] as const;

/** Throws if a report cannot be written to this file: otherwise the results of a long run would be lost. */
async function checkIsWritable(file: string): Promise<void> {
  try {
    // Does not create the file: if no rule can be checked, there is no report.
    await (await open(file, constants.O_WRONLY)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || file === '' || file.endsWith('/')) throw error;
    await access(dirname(file), constants.W_OK);
  }
}

async function main(options: ContractTestOptions, command: Command): Promise<number> {
  const { baseUrl, list, knownFailures: knownFailuresFile, bail = false, slow = false } = options;
  const { seed = randomBytes(6).toString('hex') } = options;
  if (!baseUrl && !list) command.error('error: --base-url is missing');
  const ids = await selectIds(options);
  const knownFailures = new Set(knownFailuresFile === undefined ? [] : await readIdList(knownFailuresFile));
  for (const id of knownFailures) {
    if (!allRules.some((rule) => rule.id === id)) console.error(`${knownFailuresFile}: no rule has the id ${id}`);
  }
  if (!baseUrl || list) {
    const selected = allRules.filter(({ id }) => ids.has(id));
    console.log(selected.map(({ id, sentence }) => `${id}: ${sentence}`).join('\n'));
    return PASSED;
  }
  const reports = REPORTS.flatMap(([format, render]) => {
    const file = options[format];
    return file === undefined ? [] : [{ file, render }];
  });
  for (const { file } of reports) await checkIsWritable(file);

  const progress = createProgressDisplay();
  const context = { baseUrl: baseUrl.href.replace(/\/$/, ''), seed, knownFailuresFile };
  const writeReports = async (result: Run) => {
    for (const { file, render } of reports) await writeFile(file, `${render(result, context)}\n`);
  };
  console.error(`Contract ${version} at ${context.baseUrl}, seed ${seed}`);
  const result = await run({
    baseUrl,
    seed,
    timeoutMs: options.timeout * 1000,
    bail,
    slow,
    selects: (id) => ids.has(id),
    isKnown: (id) => knownFailures.has(id),
    ...interruptSignals(),
    onProgress: (done, total) => progress.report('rules', done, total),
    log(line) {
      progress.clear();
      console.error(line);
    },
    onRulesChecked: writeReports,
  }).finally(progress.clear);

  console.log(textReport(result, context));
  await writeReports(result);
  if (result.ended === 'interrupted') return INTERRUPTED;
  return result.outcomes.some(isUnexpectedFailure) ? FAILED : PASSED;
}

const command = createCommand(
  'contract-test',
  `Checks whether a service implements the contract of the social posting service, version ${version}.`,
)
  .name('contract-test')
  .version(version, '--version')
  .option('--base-url <url>', 'the address of the service, including its path: https://host/api/v1', parseBaseUrl)
  .option('--only <pattern...>', 'checks only these rules', [])
  .option('--skip <pattern...>', 'skips these rules', [])
  .option('--only-failed <file>', 'checks only the rules that failed in an earlier --json report')
  .option('--known-failures <file>', 'rules that may fail: one id per line; # starts a comment')
  .option('--slow', 'also checks slow rules')
  .option('--bail', 'stops after the first failure that is not known')
  .option('--junit <file>', 'writes a JUnit XML report')
  .option('--json <file>', 'writes a JSON report')
  .option('--markdown <file>', 'writes a Markdown report, for a CI summary')
  .option('--seed <seed>', 'uses the same account names as an earlier run')
  .option('--timeout <seconds>', 'the longest time without data from the service', parseSeconds, 30)
  .option('--list', 'prints the selected rules and exits')
  .addHelpText('after', DETAILS)
  .action(async (options: ContractTestOptions) => {
    process.exitCode = await main(options, command);
  });
await runCommand(command, NOT_RUN);
