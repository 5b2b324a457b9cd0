import { open, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CommandError } from '../support/command-error.js';
import { createProgressBar } from '../support/progress.js';
import { NoResponseError, version } from './client/index.js';
import { junitReport } from './junit.js';
import { jsonReport, textReport } from './report.js';
import { run } from './run.js';
import { selectRules } from './selection.js';

const OPTIONS = {
  'base-url': { type: 'string' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  skip: { type: 'string', multiple: true, default: [] as string[] },
  slow: { type: 'boolean', default: false },
  junit: { type: 'string' },
  json: { type: 'string' },
  list: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const HELP = `Checks whether a service implements the contract of the social posting service, version ${version}.

  contract-test --base-url URL [options]

  --base-url URL         the address of the service, including its path: https://host/api/v1
  --only PATTERN         checks only these rules; can be repeated
  --skip PATTERN         skips these rules; can be repeated
  --slow                 also checks slow rules
  --junit FILE           writes a JUnit XML report
  --json FILE            writes a JSON report
  --list                 prints the selected rules and exits
  --version, --help

A pattern is a rule id (posts.list.offset.feed) or a prefix of it up to a dot (posts.list); * matches any characters.
Exit codes: 0 no rule failed, 1 a rule failed, 2 no rule was checked, 130 interrupted.`;

/** Exit codes of the process. */
const PASSED = 0;
const FAILED = 1;
const NOT_RUN = 2;
/** The exit code that shells report for Ctrl-C: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

function parseBaseUrl(text: string | undefined): URL {
  if (text === undefined) throw new CommandError('--base-url is required; --help lists the options');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}${url.pathname}`)
    throw new CommandError(`--base-url: "${text}" must be an http or https URL without query and credentials`);
  return url;
}

/** A second signal within this time is the same Ctrl-C, which npm has passed on too. */
const SAME_INTERRUPT_MS = 1000;

/** Returns abort signals: the first Ctrl-C stops the checks, the second one the deletion of the accounts. */
function interruptSignals(log: (line: string) => void) {
  const [checking, deleting] = [new AbortController(), new AbortController()];
  let interruptedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruptedAt === undefined) {
        interruptedAt = performance.now();
        log('Interrupted: deleting the accounts of the run. Press Ctrl-C again to leave them.');
        checking.abort();
      } else if (performance.now() - interruptedAt > SAME_INTERRUPT_MS) deleting.abort();
    });
  }
  return { signal: checking.signal, abortSignal: deleting.signal };
}

const REPORTS = [
  ['junit', junitReport],
  ['json', jsonReport],
] as const;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help || values.version) {
    console.log(values.help ? HELP : version);
    return PASSED;
  }
  const selected = selectRules(values);
  if (values.list) {
    console.log(selected.map(({ id, sentence }) => `${id}: ${sentence}`).join('\n'));
    return PASSED;
  }
  const baseUrl = parseBaseUrl(values['base-url']);
  const reports = REPORTS.flatMap(([format, render]) => {
    const file = values[format];
    return file === undefined ? [] : [{ file, render }];
  });
  // If a report could not be written, the results of a long run would be lost.
  for (const { file } of reports) await (await open(file, 'a')).close();

  let bar: ReturnType<typeof createProgressBar> | undefined;
  let rulesChecked = 0;
  const clearProgress = () => {
    bar?.stop();
    bar = undefined;
  };
  const log = (line: string) => {
    clearProgress();
    console.error(line);
  };
  const address = baseUrl.href.replace(/\/$/, '');
  log(`Contract ${version} at ${address}`);
  const result = await run({
    baseUrl,
    selects: (rule) => selected.includes(rule),
    ...interruptSignals(log),
    onProgress(done, total) {
      bar ??= createProgressBar('rules', total, rulesChecked);
      bar.update(done);
      rulesChecked = done;
    },
    log,
  }).finally(clearProgress);

  console.log(textReport(result));
  for (const { file, render } of reports) await writeFile(file, `${render(result, address)}\n`);
  if (result.unchecked > 0) return INTERRUPTED;
  return result.results.some(({ verdict }) => verdict === 'failed') ? FAILED : PASSED;
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
