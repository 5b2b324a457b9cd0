import { readFileSync } from 'node:fs';
import t from 'tap';
import { clients, nameOf } from '../clients/generators.js';
import { rowsOf, sectionsOf } from '../support/markdown.js';

t.test('the README lists every client with its command and the pinned version of its generator', async (t) => {
  const section = sectionsOf(readFileSync('test/clients/README.md', 'utf8')).at(-1) ?? '';
  const expected = clients.map((client) => {
    const command = client.command === undefined ? 'copy `generated/types.ts`' : `\`${client.command}\``;
    return [nameOf(client), client.generator, command, client.remarks];
  });
  t.same(rowsOf(section), expected);
});
