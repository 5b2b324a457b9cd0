import { XMLBuilder } from 'fast-xml-parser';
import { bySubject, countVerdicts, describeFailure, skipReason } from './report.js';
import type { Outcome, Run } from './run.js';

/** Returns the run as JUnit XML, with a test suite for each subject and a test case for each rule. */
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
    '@name': toXmlText(`${id}: ${sentence}`),
    '@time': seconds.toFixed(3),
    ...(reason !== undefined && { skipped: { '@message': toXmlText(reason) } }),
    ...(failure &&
      reason === undefined && {
        failure: {
          '@message': toXmlText(failureMessage(outcome)),
          '@type': 'ContractFailure',
          '#text': toXmlText(describeFailure(outcome)),
        },
      }),
  };
}

const failureMessage = ({ failure }: Outcome) =>
  `expected ${failure?.expected}${failure?.actual === undefined ? '' : `, got ${failure.actual}`}`;

const totals = (outcomes: readonly Outcome[], seconds: number) => ({
  '@tests': outcomes.length,
  '@failures': countVerdicts(outcomes).failed,
  '@skipped': outcomes.filter((outcome) => skipReason(outcome) !== undefined).length,
  '@time': seconds.toFixed(3),
});

/** Replaces characters that XML 1.0 does not allow. */
const toXmlText = (text: string) =>
  text.toWellFormed().replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
