import t from 'tap';
import { allRules } from '../../scripts/contract-test/run.js';
import { checkContract } from '../support/contract-run.js';
import { startTestService } from '../support/service.js';

const slowIds = allRules.filter(({ slow }) => slow).map(({ id }) => id);

t.test('the service passes the slow rules of the contract tests', async (t) => {
  const service = await startTestService(t);
  const { results } = await checkContract(service.url, { selects: ({ slow = false }) => slow });
  const checked = results.map(({ id }) => id);
  t.same(checked, slowIds);
  const notPassed = results.filter(({ verdict }) => verdict !== 'passed');
  t.same(notPassed, []);
});
