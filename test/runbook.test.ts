import { readFileSync } from 'node:fs';
import t from 'tap';
import { scrape } from './support/prometheus.js';
import { escapeRegExp } from './support/regexp.js';
import { NOT_RUN, RUNBOOK, readBlocks } from './support/runbook.js';
import { startTestService } from './support/service.js';

const page = readFileSync(RUNBOOK, 'utf8');
const blocks = readBlocks(page);

/** The sources of the tests that run the blocks. They list the sections whose blocks they run completely. */
const TESTS = ['test/embedded/runbook.test.ts', 'test/servers/runbook.test.ts'].map((path) =>
  readFileSync(path, 'utf8'),
);

/** Commands outside the blocks that are not run, with the reason. */
const NOT_RUN_IN_TEXT: Record<string, string> = {
  'npm ci': NOT_RUN.install ?? '',
  'systemctl start social-posting': NOT_RUN.systemd ?? '',
  'systemctl stop social-posting': NOT_RUN.systemd ?? '',
  'journalctl -u social-posting -o cat': NOT_RUN.systemd ?? '',
  'docker compose up -d': 'needs a container engine',
  'docker compose stop service-1': 'needs a container engine',
  'docker compose logs --no-log-prefix service-1': 'needs a container engine',
  'docker compose exec service-1 node -e "fetch(\'http://127.0.0.1:3001/readyz\').then((r) => r.text()).then(console.log)"':
    'needs a container engine',
  'docker compose run --rm service-1 node --env-file=/run/secrets/service.env scripts/doctor/index.js':
    'needs a container engine',
};

t.test('every block of commands is run by a test, or marked with the reason why not', async (t) => {
  t.ok(blocks.length > 30);
  const fences = [...page.matchAll(/^ *```/gm)].length / 2;
  t.equal(blocks.length, fences, 'every block is marked as sh');
  for (const { section, mark, commands } of blocks) {
    if (mark === '')
      t.ok(
        TESTS.some((source) => source.includes(`  '${section}',\n`)),
        section,
      );
    else t.ok(NOT_RUN[mark], commands);
  }
  const marked = blocks.filter(({ mark }) => mark !== '');
  t.ok(marked.length <= 3, 'few blocks are not run');
});

t.test('every command outside the blocks is also in a block, or has a reason not to be run', async (t) => {
  const commands = blocks.map((block) => block.commands).join('');
  const inText = page
    .replace(/^ *```.*?^ *```$/gms, '')
    .matchAll(/`((?:npm|systemctl|journalctl|docker|curl) [^`]+)`/g);
  for (const [, command = ''] of inText) t.ok(commands.includes(command) || NOT_RUN_IN_TEXT[command], command);
});

t.test('every metric that the page names exists', async (t) => {
  const { opsUrl } = await startTestService(t);
  const { types } = await scrape(opsUrl);
  const names = [...page.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g)].map(([, name = '']) => name);
  for (const name of new Set(names)) t.ok(types.has(name), name);
});

t.test('every alert links to a section, and every section states what an operator needs to know', async (t) => {
  const rules = readFileSync('scripts/deploy/prometheus/alerts.yaml', 'utf8');
  const linked = [...rules.matchAll(/runbook_url: (\S+)#(\S+)/g)];
  t.ok(linked.length > 8);
  const sections = page.split(/^## /m).slice(1);
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
