import { randomBytes } from 'node:crypto';
import { access, constants, open, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError } from '../support/command-error.js';
import { createProgressBar } from '../support/progress.js';
import { NoResponseError, version } from './client/index.js';
import { junitReport } from './junit.js';
import { jsonReport, markdownReport, textReport } from './report.js';
import { allRules, isDocumentRule, isUnexpectedFailure, type Run, run } from './run.js';
import { idMatcher, readFailedIds, readIdList } from './selection.js';

const OPTIONS = {
  'base-url': { type: 'string' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  skip: { type: 'string', multiple: true, default: [] as string[] },
  'only-failed': { type: 'string' },
  'known-failures': { type: 'string' },
  slow: { type: 'boolean', default: false },
  bail: { type: 'boolean', default: false },
  junit: { type: 'string' },
  json: { type: 'string' },
  markdown: { type: 'string' },
  seed: { type: 'string' },
  timeout: { type: 'string', default: '30' },
  list: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const HELP = `Checks whether a service implements the contract of the social posting service, version ${version}.

  contract-test --base-url URL [options]

  --base-url URL         the address of the service, including its path: https://host/api/v1
  --only PATTERN         checks only these rules; can be repeated
  --skip PATTERN         skips these rules; can be repeated
  --only-failed FILE     checks only the rules that failed in an earlier --json report
  --known-failures FILE  rules that may fail: one id per line; # starts a comment
  --slow                 also checks slow rules
  --bail                 stops after the first failure that is not known
  --junit FILE           writes a JUnit XML report
  --json FILE            writes a JSON report
  --markdown FILE        writes a Markdown report, for a CI summary
  --seed SEED            uses the same account names as an earlier run
  --timeout SECONDS      the longest time without data from the service (default: 30)
  --list                 prints the selected rules and exits
  --version, --help

A pattern is a rule id (posts.list.offset.feed) or a prefix of it up to a dot (posts.list); * matches any characters.
Exit codes: 0 no failures except known ones, 1 a rule failed, 2 no rule was checked, 130 interrupted.`;

/** Exit codes of the process. */
const PASSED = 0;
const FAILED = 1;
const NOT_RUN = 2;
/** The exit code that shells report for Ctrl-C: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

type Arguments = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

function parseTimeoutMs(text: string): number {
  const timeoutMs = Number(text) * 1000;
  if (!(timeoutMs > 0 && Number.isFinite(timeoutMs)))
    throw new CommandError(`--timeout: "${text}" must be a positive number of seconds`);
  return timeoutMs;
}

function parseBaseUrl(text: string | undefined): URL {
  if (text === undefined) throw new CommandError('--base-url is required; --help lists the options');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}${url.pathname}`)
    throw new CommandError(`--base-url: "${text}" must be an http or https URL without query and credentials`);
  return url;
}

/** Returns the ids of the rules to check. */
async function selectIds({ only, skip, 'only-failed': onlyFailed, slow }: Arguments): Promise<Set<string>> {
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

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help || values.version) {
    console.log(values.help ? HELP : version);
    return PASSED;
  }
  const { seed = randomBytes(6).toString('hex'), bail, slow } = values;
  const timeoutMs = parseTimeoutMs(values.timeout);
  const baseUrl = values.list ? undefined : parseBaseUrl(values['base-url']);
  const ids = await selectIds(values);
  const knownFailuresFile = values['known-failures'];
  const knownFailures = new Set(knownFailuresFile === undefined ? [] : await readIdList(knownFailuresFile));
  for (const id of knownFailures) {
    if (!allRules.some((rule) => rule.id === id)) console.error(`${knownFailuresFile}: no rule has the id ${id}`);
  }
  if (!baseUrl) {
    const selected = allRules.filter(({ id }) => ids.has(id));
    console.log(selected.map(({ id, sentence }) => `${id}: ${sentence}`).join('\n'));
    return PASSED;
  }
  const reports = REPORTS.flatMap(([format, render]) => {
    const file = values[format];
    return file === undefined ? [] : [{ file, render }];
  });
  for (const { file } of reports) await checkIsWritable(file);

  let bar: ReturnType<typeof createProgressBar> | undefined;
  const clearProgress = () => {
    bar?.stop();
    bar = undefined;
  };
  const context = { baseUrl: baseUrl.href.replace(/\/$/, ''), seed, knownFailuresFile };
  const writeReports = async (result: Run) => {
    for (const { file, render } of reports) await writeFile(file, `${render(result, context)}\n`);
  };
  console.error(`Contract ${version} at ${context.baseUrl}, seed ${seed}`);
  const result = await run({
    baseUrl,
    seed,
    timeoutMs,
    bail,
    slow,
    selects: (id) => ids.has(id),
    isKnown: (id) => knownFailures.has(id),
    ...interruptSignals(),
    onProgress(done, total) {
      bar ??= createProgressBar('rules', total);
      bar.update(done);
    },
    log(line) {
      clearProgress();
      console.error(line);
    },
    onRulesChecked: writeReports,
  }).finally(clearProgress);

  console.log(textReport(result, context));
  await writeReports(result);
  if (result.ended === 'interrupted') return INTERRUPTED;
  return result.outcomes.some(isUnexpectedFailure) ? FAILED : PASSED;
}

process.exitCode = await main().catch((error) => {
  const isExpected =
    error instanceof CommandError ||
    error instanceof NoResponseError ||
    'syscall' in error ||
    String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(isExpected ? error.message : error);
  return NOT_RUN;
});
