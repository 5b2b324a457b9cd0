import { XMLBuilder } from 'fast-xml-parser';
import { bySubject, countOf, describeFailure, skipReason } from './report.js';
import type { Outcome, Run } from './run.js';

/** Returns the run as JUnit XML, which CI servers show: a suite for each subject, a test case for each rule. */
export function junitReport({ outcomes, seconds }: Run): string {
  const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', format: true });
  const testsuites = {
    ...totals(outcomes, seconds),
    testsuite: bySubject(outcomes).map(([name, ofSubject]) => ({
      '@name': name,
      ...totals(
        ofSubject,
        ofSubject.reduce((sum, outcome) => sum + outcome.seconds, 0),
      ),
      testcase: ofSubject.map(testCase),
    })),
  };
  return builder.build({ '?xml': { '@version': '1.0', '@encoding': 'UTF-8' }, testsuites });
}

function testCase(outcome: Outcome) {
  const { subject, id, sentence, seconds, failure } = outcome;
  const reason = skipReason(outcome);
  return {
    '@classname': subject,
    '@name': valid(`${id}: ${sentence}`),
    '@time': seconds.toFixed(3),
    ...(reason !== undefined && { skipped: { '@message': valid(reason) } }),
    ...(failure &&
      reason === undefined && {
        failure: {
          '@message': valid(failureMessage(outcome)),
          '@type': 'ContractFailure',
          '#text': valid(describeFailure(outcome)),
        },
      }),
  };
}

const failureMessage = ({ failure }: Outcome) =>
  `expected ${failure?.expected}${failure?.actual === undefined ? '' : `, got ${failure.actual}`}`;

const totals = (outcomes: readonly Outcome[], seconds: number) => ({
  '@tests': outcomes.length,
  '@failures': countOf(outcomes).failed,
  '@skipped': outcomes.filter((outcome) => skipReason(outcome) !== undefined).length,
  '@time': seconds.toFixed(3),
});

/** Removes what XML 1.0 has no way to write. */
const valid = (text: string) =>
  text.toWellFormed().replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
