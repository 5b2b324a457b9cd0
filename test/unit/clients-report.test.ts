import t from 'tap';
import { clients } from '../clients/generators.js';
import { others } from '../clients/languages.js';
import { pageTable, tableInPage } from '../clients/report.js';

t.test('the page of the clients names every one, at the version that is pinned, and all of them work', async (t) => {
  const ok = { ok: true, output: '', seconds: 0 };
  const results = clients.map((client) => ({
    client,
    generated: ok,
    ...(client.language !== others && { compiled: ok, played: ok }),
  }));
  t.equal(await tableInPage(), pageTable(results));
});
