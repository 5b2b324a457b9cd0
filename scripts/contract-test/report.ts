import { styleText } from 'node:util';
import type { Outcome, Run } from './run.js';

const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  process.stdout.isTTY ? styleText(style, text) : text;

/** Subjects with their outcomes, in order. */
export function bySubject(outcomes: readonly Outcome[]): [subject: string, outcomes: Outcome[]][] {
  const names = [...new Set(outcomes.map(({ subject }) => subject))];
  return names.map((name) => [name, outcomes.filter(({ subject }) => subject === name)]);
}

/** What a person wants to read after a run. */
export function report({ outcomes, counts, people, seconds, left, interrupted }: Run): string {
  const broken = outcomes.filter(({ verdict }) => verdict === 'broken');
  const skipped = outcomes.filter(({ verdict }) => verdict === 'skipped');
  const subjects = bySubject(outcomes);
  const width = Math.max(0, ...subjects.map(([name]) => name.length));
  return [
    ...subjects.map(([name, ofSubject]) => `  ${name.padEnd(width)}  ${tally(ofSubject)}`),
    '',
    ...skipped.map(({ rule, remark }) => `${paint('yellow', 'Skipped')}  ${rule}\n  ${remark}\n`),
    ...broken.map(details),
    `${tally(outcomes)}; ${counts.strict + counts.general} requests (${counts.strict} strict), ${people} people, ${seconds.toFixed(1)} s`,
    ...(left.length > 0 ? [`Accounts that could not be deleted: ${left.join(', ')}`] : []),
    ...(interrupted ? ['Interrupted: the other rules were not checked.'] : []),
  ].join('\n');
}

const details = ({ rule, remark, exchange }: Outcome) =>
  [
    `${paint('red', 'Broken')}   ${rule}`,
    ...(exchange ? [`  sent    ${exchange.sent}`, `  came    ${exchange.came}`] : []),
    `  wanted  ${remark}`,
    '',
  ].join('\n');

function tally(outcomes: readonly Outcome[]): string {
  const count = (verdict: Outcome['verdict']) => outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const [kept, broken, skipped] = [count('kept'), count('broken'), count('skipped')];
  return [
    `${kept} kept`,
    ...(broken > 0 ? [paint('red', `${broken} broken`)] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
}
