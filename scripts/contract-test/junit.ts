import { XMLBuilder } from 'fast-xml-parser';
import { bySubject, countVerdict, describeFailure } from './report.js';
import type { RuleResult, RunResult } from './run.js';

/** Returns the run as JUnit XML, with a test suite for each subject and a test case for each rule. */
export function junitReport({ results, seconds }: RunResult): string {
  const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', format: true });
  const testsuites = {
    ...totals(results, seconds),
    testsuite: bySubject(results).map(([name, ofSubject]) => ({
      '@name': name,
      ...totals(
        ofSubject,
        ofSubject.reduce((sum, result) => sum + result.seconds, 0),
      ),
      testcase: ofSubject.map(testCase),
    })),
  };
  return builder.build({ '?xml': { '@version': '1.0', '@encoding': 'UTF-8' }, testsuites });
}

function testCase(result: RuleResult) {
  const { subject, id, sentence, seconds, failure, reason } = result;
  return {
    '@classname': subject,
    '@name': toXmlText(`${id}: ${sentence}`),
    '@time': seconds.toFixed(3),
    ...(reason !== undefined && { skipped: { '@message': toXmlText(reason) } }),
    ...(failure && {
      failure: {
        '@message': toXmlText(
          `expected ${failure.expected}${failure.actual === undefined ? '' : `, got ${failure.actual}`}`,
        ),
        '@type': 'ContractFailure',
        '#text': toXmlText(describeFailure(result)),
      },
    }),
  };
}

const totals = (results: readonly RuleResult[], seconds: number) => ({
  '@tests': results.length,
  '@failures': countVerdict(results, 'failed'),
  '@skipped': countVerdict(results, 'skipped'),
  '@time': seconds.toFixed(3),
});

/** Replaces characters that XML 1.0 does not allow. */
const toXmlText = (text: string) =>
  text.toWellFormed().replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
