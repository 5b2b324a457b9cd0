import { styleText } from 'node:util';
import { type ExchangeDescription, version } from './client/index.js';
import { isUnexpectedFailure, type Outcome, type Run } from './run.js';

/** The values of a report that are not results of the run. */
interface ReportContext {
  baseUrl: string;
  seed: string;
  /** The file that lists the known failures. */
  knownFailuresFile?: string | undefined;
}

const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  process.stdout.isTTY ? styleText(style, text) : text;

/** Returns each subject with its outcomes, in order. */
export const bySubject = (outcomes: readonly Outcome[]) => [...groupBy(outcomes, ({ subject }) => subject)];

function groupBy(outcomes: readonly Outcome[], keyOf: (outcome: Outcome) => string): Map<string, Outcome[]> {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const key = keyOf(outcome);
    groups.set(key, [...(groups.get(key) ?? []), outcome]);
  }
  return groups;
}

/** Counts the outcomes of each verdict. Known failures are counted separately from other failures. */
export function countVerdicts(outcomes: readonly Outcome[]) {
  const count = (verdict: Outcome['verdict']) => outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const failed = outcomes.filter(isUnexpectedFailure).length;
  return {
    passed: count('passed'),
    failed,
    'known failures': count('failed') - failed,
    skipped: count('skipped'),
    'not run': count('not-run'),
  };
}

/** Returns the reason why a rule counts as skipped in JUnit, or undefined if it does not. */
export function skipReason({ verdict, known, reason, failure }: Outcome): string | undefined {
  if (verdict === 'failed' && known) return `known failure: expected ${failure?.expected}`;
  return verdict === 'not-run' ? `not run: ${reason}` : reason;
}

/** Returns the report for a terminal. */
export function textReport(run: Run, context: ReportContext): string {
  const { outcomes, counts, accounts, seconds } = run;
  const subjects = bySubject(outcomes);
  const width = Math.max(0, ...subjects.map(([name]) => name.length));
  return [
    ...subjects.map(([name, ofSubject]) => `  ${name.padEnd(width)}  ${tally(ofSubject)}`),
    '',
    ...outcomes
      .filter(({ verdict }) => verdict === 'skipped')
      .map(({ id, sentence, reason }) => `${paint('yellow', 'Skipped')}  ${id}: ${sentence}\n  ${reason}\n`),
    ...groupFailures(outcomes).map((group) => failureText(group, paint('red', 'Failed'))),
    ...remarks(run, context).map((remark) => `${remark}\n`),
    `${tally(outcomes)}; ${counts.strict + counts.general} requests (${counts.strict} strict), ${accounts} accounts, ${seconds.toFixed(1)} s`,
  ].join('\n');
}

/** Returns the report for a CI summary, in GitHub's Markdown. */
export function markdownReport(run: Run, context: ReportContext): string {
  const { outcomes } = run;
  const columns = Object.keys(countVerdicts([])) as (keyof ReturnType<typeof countVerdicts>)[];
  const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`;
  const failed = outcomes.some(isUnexpectedFailure);
  return [
    `## Contract tests: ${failed ? 'failed' : run.ended === 'interrupted' ? 'interrupted' : 'passed'}`,
    `Contract ${version} at ${context.baseUrl}, seed \`${context.seed}\`, ${run.seconds.toFixed(1)} s.`,
    [
      row(['Subject', ...columns]),
      row(['---', ...columns.map(() => '---:')]),
      ...[...bySubject(outcomes), ['All', outcomes] as const].map(([name, ofSubject]) =>
        row([name, ...columns.map((column) => countVerdicts(ofSubject)[column])]),
      ),
    ].join('\n'),
    ...remarks(run, context),
    ...groupFailures(outcomes).map(([first, ...others]) => {
      const summary = `<summary><code>${first.id}</code>${others.length > 0 ? ` and ${others.length} more` : ''}</summary>`;
      const text = failureText([first, ...others], 'Failed').trimEnd();
      // A fence that is longer than any run of backticks in the text.
      const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([backticks]) => backticks.length + 1)));
      return `<details>${summary}\n\n${fence}text\n${text}\n${fence}\n</details>`;
    }),
    ...outcomes.filter(({ verdict }) => verdict === 'skipped').map(({ id, reason }) => `Skipped \`${id}\`: ${reason}.`),
  ].join('\n\n');
}

/** Returns the run as JSON. */
export function jsonReport({ outcomes, accounts, ...run }: Run, { baseUrl, seed }: ReportContext): string {
  return JSON.stringify({ contract: version, baseUrl, seed, ...run, accounts, rules: outcomes }, null, 2);
}

function remarks({ outcomes, ended, undeletedAccounts }: Run, { knownFailuresFile }: ReportContext): string[] {
  const knownIds = (verdict: Outcome['verdict']) =>
    outcomes.flatMap((outcome) => (outcome.known && outcome.verdict === verdict ? [outcome.id] : [])).join(', ');
  const [failing, passing] = [knownIds('failed'), knownIds('passed')];
  return [
    failing && `Known failures: ${failing}`,
    passing && `Now passing, can be removed from ${knownFailuresFile}: ${passing}`,
    undeletedAccounts.length > 0 ? `Accounts that could not be deleted: ${undeletedAccounts.join(', ')}` : '',
    ended === 'interrupted' ? 'Interrupted: the other rules were not checked.' : '',
    ended === 'bailed' ? 'Stopped after the first failure: the other rules were not checked.' : '',
  ].filter((remark) => remark !== '');
}

type Group = [first: Outcome, ...others: Outcome[]];

/** Groups unexpected failures that have the same expectation and the same response. */
function groupFailures(outcomes: readonly Outcome[]): Group[] {
  const groups = groupBy(outcomes.filter(isUnexpectedFailure), ({ failure }) => {
    const { expected, actual, response } = failure ?? {};
    return JSON.stringify([expected, actual, response?.status, response?.body]);
  });
  return [...groups.values()] as Group[];
}

/** Returns the text of a group. The Markdown report contains it too, so only the label may have terminal colors. */
function failureText([first, ...others]: Group, label: string): string {
  return [
    `${label}   ${first.id}: ${first.sentence}`,
    indent(describeFailure(first)),
    ...(others.length > 0 ? [`  Same failure: ${others.map(({ id }) => id).join(', ')}`] : []),
    '',
  ].join('\n');
}

/** Returns the expected and the actual value, the request and the response of a failure as text. */
export function describeFailure({ failure }: Outcome): string {
  const { expected, actual, request, response } = failure ?? {};
  return [
    `Expected: ${expected}`,
    ...(actual !== undefined ? [`Got:      ${actual}`] : []),
    ...(request !== undefined ? ['Request:', indent(request)] : []),
    ...(response ? ['Response:', indent(responseText(response))] : []),
  ].join('\n');
}

const responseText = ({ status, headers, body }: ExchangeDescription['response']) =>
  [status, ...headers, ...(body ? ['', body] : [])].join('\n');

const indent = (text: string) => text.replace(/^(?=.)/gm, '  ');

function tally(outcomes: readonly Outcome[]): string {
  const present = Object.entries(countVerdicts(outcomes)).filter(([kind, count]) => count > 0 || kind === 'passed');
  return present
    .map(([kind, count]) => {
      const label = count === 1 && kind === 'known failures' ? 'known failure' : kind;
      return paint(kind === 'failed' ? 'red' : 'reset', `${count} ${label}`);
    })
    .join(', ');
}
