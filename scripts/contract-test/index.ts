import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { PlainError } from '../plain-error.js';
import { openBar } from '../progress.js';
import { NoResponseError } from './client.js';
import { version } from './document.js';
import { junitReport } from './junit.js';
import { type Context, jsonReport, markdownReport, textReport } from './report.js';
import { allRules, isUnexpectedFailure, type Run, run } from './run.js';
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

const HELP = `Checks whether a service keeps the social posting service's contract, version ${version}.

  contract-test --base-url URL [options]

  --base-url URL         where the service is, with its path if it has one: https://host/api/v1
  --only PATTERN         checks these rules only; can be repeated
  --skip PATTERN         does not check these rules; can be repeated
  --only-failed FILE     checks only the rules that failed, by an earlier --json report
  --known-failures FILE  rules that may fail: ids, one a line; # begins a comment
  --slow                 checks slow rules too
  --bail                 stops after the first failure
  --junit FILE           writes a JUnit XML report
  --json FILE            writes a JSON report
  --markdown FILE        writes a Markdown report, for a CI summary
  --seed SEED            uses the account names of an earlier run
  --timeout SECONDS      how long a response may take (default: 30)
  --list                 prints the selected rules and exits
  --version, --help

A pattern is the id of a rule (posts.list.offset.feed), or its beginning up to a dot (posts.list); * stands for any characters.
Exit code: 0 all rules passed, 1 a rule failed, 2 nothing was checked, 130 interrupted.`;

/** The process's exit code. */
const PASSED = 0;
const FAILED = 1;
const NOT_RUN = 2;
/** As shells say of a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

type Arguments = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

function parseTimeout(text: string): number {
  const timeout = Number(text) * 1000;
  if (!(timeout > 0)) throw new PlainError(`--timeout: "${text}" is not a number of seconds`);
  return timeout;
}

function parseBaseUrl(text: string | undefined): URL {
  if (text === undefined) throw new PlainError('--base-url is missing; --help lists the options');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`;
  if (!plain)
    throw new PlainError(`--base-url: "${text}" is not an http or https address without query and credentials`);
  return url;
}

/** Returns the ids of the rules to check. */
async function selectIds({ only, skip, 'only-failed': onlyFailed, slow }: Arguments): Promise<Set<string>> {
  const rules = allRules.filter((rule) => slow || !rule.slow);
  for (const pattern of [...only, ...skip]) {
    if (!allRules.some(({ id }) => idMatcher([pattern])(id)))
      throw new PlainError(`no rule has an id like "${pattern}"`);
  }
  const failed = onlyFailed === undefined ? undefined : new Set(await readFailedIds(onlyFailed));
  const [isWanted, isSkipped] = [only.length > 0 ? idMatcher(only) : () => true, idMatcher(skip)];
  const ids = rules.map(({ id }) => id).filter((id) => isWanted(id) && !isSkipped(id) && (failed?.has(id) ?? true));
  if (ids.length === 0) throw new PlainError('no rule is selected; slow rules need --slow');
  return new Set(ids);
}

/** Ctrl-C once stops checking, and the accounts are deleted; twice, and they are left. */
function interruptions() {
  const [checking, deleting] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (checking.signal.aborted) deleting.abort();
      else console.error('Interrupted: deleting the accounts that were made. Once more leaves them.');
      checking.abort();
    });
  }
  return { signal: checking.signal, hurry: deleting.signal };
}

async function writeReports({ junit, json, markdown }: Arguments, result: Run, context: Context): Promise<void> {
  for (const [file, render] of [
    [junit, junitReport],
    [json, jsonReport],
    [markdown, markdownReport],
  ] as const) {
    if (file !== undefined) await writeFile(file, `${render(result, context)}\n`);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help || values.version) {
    console.log(values.help ? HELP : version);
    return PASSED;
  }
  const { seed = randomBytes(6).toString('hex'), bail, slow } = values;
  const timeout = parseTimeout(values.timeout);
  const baseUrl = values.list ? undefined : parseBaseUrl(values['base-url']);
  const ids = await selectIds(values);
  const knownFailuresFile = values['known-failures'];
  const known = new Set(knownFailuresFile === undefined ? [] : await readIdList(knownFailuresFile));
  for (const id of known) {
    if (!allRules.some((rule) => rule.id === id)) console.error(`${knownFailuresFile}: no rule has the id ${id}`);
  }
  if (!baseUrl) {
    const selected = allRules.filter(({ id }) => ids.has(id));
    console.log(selected.map(({ id, sentence }) => `${id}: ${sentence}`).join('\n'));
    return PASSED;
  }

  let bar: ReturnType<typeof openBar> | undefined;
  const clear = () => {
    bar?.stop();
    bar = undefined;
  };
  const context = { baseUrl: baseUrl.href.replace(/\/$/, ''), seed, knownFailuresFile };
  console.error(`Contract ${version} at ${context.baseUrl}, seed ${seed}`);
  const result = await run({
    baseUrl,
    seed,
    timeout,
    bail,
    slow,
    selects: (id) => ids.has(id),
    isKnown: (id) => known.has(id),
    ...interruptions(),
    progress(done, total) {
      bar ??= openBar('rules', total);
      bar.update(done);
    },
    say(line) {
      clear();
      console.error(line);
    },
    checked: (unfinished) => writeReports(values, unfinished, context),
  }).finally(clear);

  console.log(textReport(result, context));
  await writeReports(values, result, context);
  if (result.ended === 'interrupted') return INTERRUPTED;
  return result.outcomes.some(isUnexpectedFailure) ? FAILED : PASSED;
}

process.exitCode = await main().catch((error) => {
  const plain =
    error instanceof PlainError ||
    error instanceof NoResponseError ||
    'syscall' in error ||
    String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(plain ? error.message : error);
  return NOT_RUN;
});
