import { styleText } from 'node:util';
import { type ExchangeDescription, version } from './client/index.js';
import type { RuleResult, RunResult } from './run.js';

const paint = (style: 'red' | 'yellow', text: string) => (process.stdout.isTTY ? styleText(style, text) : text);

/** Returns each subject with its results, in order. */
export const bySubject = (results: readonly RuleResult[]) => [...groupBy(results, ({ subject }) => subject)];

function groupBy(results: readonly RuleResult[], keyOf: (result: RuleResult) => string): Map<string, RuleResult[]> {
  const groups = new Map<string, RuleResult[]>();
  for (const result of results) {
    const key = keyOf(result);
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return groups;
}

export const countVerdict = (results: readonly RuleResult[], verdict: RuleResult['verdict']) =>
  results.filter((result) => result.verdict === verdict).length;

/** Returns the report for a terminal. */
export function textReport({ results, unchecked, counts, accounts, undeletedAccounts, seconds }: RunResult): string {
  const subjects = bySubject(results);
  const width = Math.max(0, ...subjects.map(([name]) => name.length));
  const notChecked = unchecked > 0 ? `, ${unchecked} not checked because of the interrupt` : '';
  return [
    ...subjects.map(([name, ofSubject]) => `  ${name.padEnd(width)}  ${tally(ofSubject)}`),
    '',
    ...results
      .filter(({ verdict }) => verdict === 'skipped')
      .map(({ id, sentence, reason }) => `${paint('yellow', 'Skipped')}  ${id}: ${sentence}\n  ${reason}\n`),
    ...groupFailures(results).map(failureText),
    ...(undeletedAccounts.length > 0 ? [`Accounts that could not be deleted: ${undeletedAccounts.join(', ')}\n`] : []),
    `${tally(results)}${notChecked}; ${counts.strict + counts.general} requests (${counts.strict} strict), ${accounts} accounts, ${seconds.toFixed(1)} s${skipReasons(results)}`,
  ].join('\n');
}

/** Returns the run as JSON. */
export const jsonReport = ({ results, ...run }: RunResult, baseUrl: string): string =>
  JSON.stringify({ contract: version, baseUrl, ...run, rules: results }, null, 2);

type FailureGroup = [first: RuleResult, ...others: RuleResult[]];

/** Returns why rules were skipped, each reason with the number of rules. */
function skipReasons(results: readonly RuleResult[]): string {
  const skipped = results.filter(({ verdict }) => verdict === 'skipped');
  const reasons = groupBy(skipped, ({ reason = '' }) => reason);
  return [...reasons].map(([reason, rules]) => `; ${rules.length} skipped because ${reason}`).join('');
}

/** Groups failures that have the same expectation and the same response. The first failure of the run is the first. */
function groupFailures(results: readonly RuleResult[]): FailureGroup[] {
  const timeOf = ({ failure }: RuleResult) => Date.parse(failure?.time ?? '');
  const failed = results
    .filter(({ verdict }) => verdict === 'failed')
    .sort((one, other) => timeOf(one) - timeOf(other));
  const groups = groupBy(failed, ({ failure }) => {
    const { expected, actual, response } = failure ?? {};
    return JSON.stringify([expected, actual, response?.status, response?.body]);
  });
  return [...groups.values()] as FailureGroup[];
}

function failureText([first, ...others]: FailureGroup): string {
  return [
    `${paint('red', 'Failed')}   ${first.id}: ${first.sentence}`,
    indent(describeFailure(first)),
    ...(others.length > 0 ? [`  Same failure: ${others.map(({ id }) => id).join(', ')}`] : []),
    '',
  ].join('\n');
}

/** Returns the expected and the actual value, the request and the response of a failure as text. */
export function describeFailure({ failure }: RuleResult): string {
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

function tally(results: readonly RuleResult[]): string {
  const [failed, skipped] = [countVerdict(results, 'failed'), countVerdict(results, 'skipped')];
  return [
    `${countVerdict(results, 'passed')} passed`,
    ...(failed > 0 ? [paint('red', `${failed} failed`)] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
}
