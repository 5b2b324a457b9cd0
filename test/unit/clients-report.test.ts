import t from 'tap';
import { clients } from '../clients/generators.js';
import { others } from '../clients/languages.js';
import { readmeTable, tableInReadme } from '../clients/report.js';

t.test('the README lists every client with the pinned version of its generator, and no failure', async (t) => {
  const ok = { ok: true, output: '', seconds: 0 };
  const results = clients.map((client) => ({
    client,
    generated: ok,
    ...(client.language !== others && { compiled: ok, ran: ok }),
  }));
  t.equal(await tableInReadme(), readmeTable(results));
});
