import { readFileSync } from 'node:fs';
import t from 'tap';
import { NOT_RUN, RUNBOOK, readBlocks } from './support/runbook.js';

const page = readFileSync(RUNBOOK, 'utf8');
const blocks = readBlocks(page);

/** The sources of the tests that run the blocks. They list the sections whose blocks they run completely. */
const TESTS = [
  ...['test/embedded/runbook.test.ts', 'test/servers/runbook.test.ts'],
  'test/deploy/rolling-restart.ts',
].map((path) => readFileSync(path, 'utf8'));

t.test('every block of commands is run by a test, or marked with the reason why not', async (t) => {
  t.ok(blocks.length > 30);
  const fences = [...page.matchAll(/^ *```/gm)].length / 2;
  t.equal(blocks.length, fences, 'every block has the language sh');
  for (const { section, mark, commands } of blocks) {
    if (mark === '')
      t.ok(
        TESTS.some((source) => source.includes(`  '${section}',\n`) || source.includes(`SECTION = '${section}';`)),
        section,
      );
    else t.ok(NOT_RUN[mark], commands);
    // Otherwise packages that the operator installs later in this shell are not readable for the user of the service.
    if (commands.includes('umask')) t.match(commands, /^\(\numask 077\n[^)]*^\)$/m, section);
  }
  const marked = blocks.filter(({ mark }) => mark !== '');
  t.ok(marked.length <= 3, 'few blocks are not run');
});

t.test('every alert links to a section of the runbook that names it', async (t) => {
  const rules = readFileSync('scripts/deploy/prometheus/alerts.yaml', 'utf8');
  const linked = [...rules.matchAll(/alert: (\w+)$.*?runbook_url: (\S+)#(\S+)/gms)];
  t.ok(linked.length > 8);
  const sections = page.split(/^## /m);
  for (const [, alert, path, anchor = ''] of linked) {
    t.equal(path, RUNBOOK);
    const section = sections.find((text) => text.toLowerCase().replaceAll(' ', '-').startsWith(`${anchor}\n`));
    t.match(section, `\`${alert}\``, `${alert} in ${anchor}`);
  }
});
