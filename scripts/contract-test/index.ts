import { open, readFile, writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { createCommand, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { createProgressDisplay } from '../support/progress.js';
import { version } from './client/index.js';
import { junitReport } from './junit.js';
import { jsonReport, textReport } from './report.js';
import { run } from './run.js';
import { selectRules } from './selection.js';
import type { OperatorAccount } from './users.js';

interface ContractTestOptions {
  baseUrl?: URL;
  only?: string[];
  skip?: string[];
  slow?: boolean;
  accounts?: string;
  junit?: string;
  json?: string;
  list?: boolean;
}

const DETAILS = `
A pattern is a rule id (posts.list.offset.feed) or a prefix of it up to a dot (posts.list); * matches any characters.
Exit codes: 0 no rule failed, 1 a rule failed, 2 no rule was checked, 130 interrupted.`;

/** Exit codes of the process. */
const PASSED = 0;
const FAILED = 1;
const NOT_RUN = 2;
/** The exit code that shells report for Ctrl-C: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}${url.pathname}`)
    throw new InvalidArgumentError('It must be an http or https URL without query and credentials.');
  return url;
}

/** Reads a file with one account in JSON per line, as `npm run admin -- accounts create --json` prints it. */
async function readAccounts(file: string): Promise<OperatorAccount[]> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  try {
    return lines.map((line) => JSON.parse(line));
  } catch {
    throw new CommandError(`--accounts: ${file} must have one account in JSON per line`);
  }
}

/** A second signal within this time is the same Ctrl-C, which npm has passed on too. */
const SAME_INTERRUPT_MS = 1000;

/** Returns a signal that the first Ctrl-C aborts. The second one ends the process. */
function interruptSignal(log: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let interruptedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruptedAt === undefined) {
        interruptedAt = performance.now();
        log('Interrupted: deleting the accounts of the run. Press Ctrl-C again to leave them.');
        controller.abort();
      } else if (performance.now() - interruptedAt > SAME_INTERRUPT_MS) process.exit(INTERRUPTED);
    });
  }
  return controller.signal;
}

const REPORTS = [
  ['junit', junitReport],
  ['json', jsonReport],
] as const;

async function main(options: ContractTestOptions, command: Command): Promise<number> {
  const { baseUrl, list } = options;
  if (!baseUrl && !list) command.error('error: --base-url is missing');
  const selected = selectRules(options);
  if (!baseUrl || list) {
    console.log(selected.map(({ id, sentence }) => `${id}: ${sentence}`).join('\n'));
    return PASSED;
  }
  const reports = REPORTS.flatMap(([format, render]) => {
    const file = options[format];
    return file === undefined ? [] : [{ file, render }];
  });
  // If a report could not be written, the results of a long run would be lost.
  for (const { file } of reports) await (await open(file, 'a')).close();

  const progress = createProgressDisplay();
  const log = (line: string) => {
    progress.clear();
    console.error(line);
  };
  const address = baseUrl.href.replace(/\/$/, '');
  log(`Contract ${version} at ${address}`);
  const result = await run({
    baseUrl,
    selects: (rule) => selected.includes(rule),
    accounts: options.accounts === undefined ? undefined : await readAccounts(options.accounts),
    signal: interruptSignal(log),
    onProgress: (done, total) => progress.report('rules', done, total),
    log,
  }).finally(progress.clear);

  console.log(textReport(result));
  for (const { file, render } of reports) await writeFile(file, `${render(result, address)}\n`);
  if (result.unchecked > 0) return INTERRUPTED;
  return result.results.some(({ verdict }) => verdict === 'failed') ? FAILED : PASSED;
}

const command = createCommand(
  'contract-test',
  `Checks whether a service implements the contract of the social posting service, version ${version}.`,
)
  .name('contract-test')
  .version(version, '--version')
  .option('--base-url <url>', 'the address of the service, including its path: https://host/api/v1', parseBaseUrl)
  .option('--only <pattern...>', 'checks only these rules')
  .option('--skip <pattern...>', 'skips these rules')
  .option('--slow', 'also checks slow rules')
  .option('--accounts <file>', 'uses these accounts, because registration is closed')
  .option('--junit <file>', 'writes a JUnit XML report')
  .option('--json <file>', 'writes a JSON report')
  .option('--list', 'prints the selected rules and exits')
  .addHelpText('after', DETAILS)
  .action(async (options: ContractTestOptions) => {
    process.exitCode = await main(options, command);
  });
await runCommand(command, NOT_RUN);
