import junit from 'junit-report-builder';
import { bySubject } from './report.js';
import type { Run } from './run.js';

/** The run as JUnit XML, which CI servers show: a suite for each subject, a test case for each rule. */
export function junitReport({ outcomes }: Run): string {
  // Its types speak of a default export that the module does not have.
  const builder = (junit as unknown as typeof junit.default).newBuilder();
  for (const [name, ofSubject] of bySubject(outcomes)) {
    const suite = builder.testSuite().name(name);
    for (const { rule, verdict, seconds, remark = '', exchange } of ofSubject) {
      const testCase = suite
        .testCase()
        .className(name)
        .name(rule)
        .time(Number(seconds.toFixed(3)));
      if (verdict === 'skipped') testCase.skipped();
      if (verdict !== 'broken') continue;
      testCase.failure(remark);
      if (exchange) testCase.standardError(`sent    ${exchange.sent}\ncame    ${exchange.came}\nwanted  ${remark}`);
    }
  }
  return builder.build();
}
