import { readFileSync } from 'node:fs';
import t from 'tap';
import { allRules } from '../../scripts/contract-test/run.js';
import { idMatcher } from '../../scripts/contract-test/selection.js';
import { missingTests, rowsOf, sectionsOf } from '../support/markdown.js';

const document = readFileSync('test/PROMISES.md', 'utf8');
const rows = sectionsOf(document).flatMap(rowsOf);

t.test('every row has a promise and its proof', async (t) => {
  t.ok(rows.length > 150, `${rows.length} rows`);
  for (const row of rows) {
    const [promise = '', proof = ''] = row;
    t.equal(row.length, 2, promise);
    t.match(promise, /^\S/, proof);
    t.match(proof, /^(`[^`]+`(: "[^"]+")?(, (?=`)|$))+$/, promise);
  }
});

t.test('every pattern selects a rule of the contract tests', async (t) => {
  const references = rows.flatMap(([, proof = '']) => [...proof.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  for (const pattern of new Set(references.filter((name) => !name.startsWith('test/')))) {
    const isSelected = idMatcher([pattern]);
    t.ok(
      allRules.some(({ id }) => isSelected(id)),
      pattern,
    );
  }
});

t.test('every file exists and contains the quoted test titles', async (t) => {
  t.same(missingTests(document), []);
});
