import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { missingTests, rowsOf, sectionOf, testsNamedIn } from '../support/markdown.js';

const document = readFileSync('.github/SECURITY.md', 'utf8');

const tableOf = (title: string) => rowsOf(sectionOf(document, title));

t.test('every test that SECURITY.md names exists', async (t) => {
  const tests = testsNamedIn(document);
  t.same(missingTests(document), []);
  t.ok(tests.length > 50 && tests.filter(({ title }) => title).length > 3);
});

t.test('every chapter of ASVS and every risk of the API Top 10 has a row with a test or a reason', async (t) => {
  const chapters = tableOf('OWASP ASVS 5.0, level 2');
  const risks = tableOf('OWASP API Security Top 10, 2023');
  for (const [rows, prefix, count] of [
    [chapters, 'V', 17],
    [risks, 'API', 10],
  ] as const) {
    const expected = Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
    t.strictSame(
      rows.map(([name]) => name?.split(' ')[0]),
      expected,
    );
  }
  for (const [name = '', tests, reason] of [...chapters, ...risks]) t.ok(tests || reason, name);
});

t.test('every row of the threat model names a test', async (t) => {
  const threats = tableOf('Threat model');
  t.ok(threats.length > 10);
  for (const [asset = '', , , test] of threats) t.match(test, /`test\//, asset);
});

t.test('every attack is in the threat model', async (t) => {
  const threats = sectionOf(document, 'Threat model');
  for (const file of readdirSync('test/abuse/attacks')) {
    if (file !== 'index.ts') t.match(threats, `test/abuse/attacks/${file}`);
  }
});
