import { readFileSync } from 'node:fs';
import t from 'tap';
import { sectionsOf } from './support/markdown.js';
import { scrape } from './support/prometheus.js';
import { escapeRegExp } from './support/regexp.js';
import { NOT_RUN, RUNBOOK, readBlocks } from './support/runbook.js';
import { startTestService } from './support/service.js';

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
  }
  const marked = blocks.filter(({ mark }) => mark !== '');
  t.ok(marked.length <= 3, 'few blocks are not run');
});

t.test('every npm run and curl command in the text is also in a block', async (t) => {
  const commands = blocks.map((block) => block.commands).join('');
  const text = page.replace(/^ *```.*?^ *```$/gms, '');
  const inText = [...text.matchAll(/`((?:npm run|curl) [^`]+)`/g)];
  t.ok(inText.length > 0);
  for (const [, command = ''] of inText) t.ok(commands.includes(command), command);
});

t.test('every metric that the page names exists', async (t) => {
  const { opsUrl } = await startTestService(t);
  const { types } = await scrape(opsUrl);
  const names = [...page.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g)].map(([, name = '']) => name);
  for (const name of new Set(names)) t.ok(types.has(name), name);
});

t.test('every alert links to a section that states what an operator needs to know', async (t) => {
  const rules = readFileSync('scripts/deploy/prometheus/alerts.yaml', 'utf8');
  const linked = [...rules.matchAll(/runbook_url: (\S+)#(\S+)/g)];
  t.ok(linked.length > 8);
  const sections = sectionsOf(page);
  const anchors = new Map(
    sections.map((text) => [text.slice(0, text.indexOf('\n')).toLowerCase().replaceAll(' ', '-'), text]),
  );
  for (const [, path, anchor = ''] of linked) {
    t.equal(path, RUNBOOK);
    const section = anchors.get(anchor) ?? '';
    for (const label of ['Means', 'Users notice', 'Look at', 'Do', 'Over when'])
      t.match(section, `- **${label}:**`, anchor);
  }
});

const DASHBOARD = 'scripts/deploy/grafana/dashboard.json';

t.test('every panel that the page names is on the dashboard', async (t) => {
  const dashboard = JSON.stringify(JSON.parse(readFileSync(DASHBOARD, 'utf8')));
  const named = [...page.matchAll(/panels? (“[^”]+”(?:(?:, | and )“[^”]+”)*)/g)];
  const panels = named.flatMap(([, list = '']) => [...list.matchAll(/“([^”]+)”/g)].map(([, panel = '']) => panel));
  t.ok(panels.length > 5);
  for (const panel of panels) t.match(dashboard, new RegExp(`"title":"${escapeRegExp(panel)}"`), panel);
});
