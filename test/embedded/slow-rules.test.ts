import t from 'tap';
import { allRules } from '../../scripts/contract-test/run.js';
import { checkContract } from '../support/contract-run.js';
import { startTestService } from '../support/service.js';

const slowIds = allRules.filter(({ slow }) => slow).map(({ id }) => id);

t.test('the service passes the slow rules of the contract tests', async (t) => {
  const service = await startTestService(t);
  const { outcomes } = await checkContract(service.url, { slow: true, selects: (id) => slowIds.includes(id) });
  const checked = outcomes.map(({ id }) => id);
  t.same(checked, slowIds);
  const notPassed = outcomes.filter(({ verdict }) => verdict !== 'passed');
  t.same(notPassed, []);
});
