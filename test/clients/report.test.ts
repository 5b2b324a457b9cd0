import t from 'tap';
import { clients } from './generators.js';
import { others } from './languages.js';
import { readmeTable, tableInReadme } from './report.js';

t.test('the README names every client, at the version that is pinned, and all of them work', async (t) => {
  const ok = { ok: true, output: '', seconds: 0 };
  const results = clients.map((client) => ({
    client,
    generated: ok,
    ...(client.language !== others && { compiled: ok, played: ok }),
  }));
  t.equal(await tableInReadme(), readmeTable(results));
});
