import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { installScriptProblems, isPermissive, licenceProblems } from '../../scripts/dependencies/rules.js';

const bomOf = (licenses: object[]) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  components: [{ name: 'a', version: '1.0.0', licenses }],
});

t.test('accepts permissive licences and choices of one, and refuses all others', async (t) => {
  for (const licence of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC']) t.ok(isPermissive(licence), licence);
  for (const licence of ['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'UNLICENSED', ''])
    t.notOk(isPermissive(licence), licence);
  t.same(licenceProblems(bomOf([{ license: { id: 'MIT' } }])), []);
  t.same(licenceProblems(bomOf([{ license: { id: 'AGPL-3.0-only' } }])), ['a@1.0.0: licence AGPL-3.0-only']);
  t.same(licenceProblems(bomOf([])), ['a@1.0.0: licence unknown']);
});

t.test('refuses a package with an install script that package.json does not name', async (t) => {
  const packages = {
    '': {},
    'node_modules/a': { hasInstallScript: true },
    'node_modules/b/node_modules/@c/d': { hasInstallScript: true },
  };
  t.same(installScriptProblems({ packages }, { a: false, '@c/d': true }), []);
  t.match(installScriptProblems({ packages }, { a: false }), [/^@c\/d: /]);
});

t.test('npm runs no install scripts here, and no command depends on scripts that npm therefore skips', async (t) => {
  t.equal(execFileSync('npm', ['config', 'get', 'ignore-scripts'], { encoding: 'utf8' }).trim(), 'true');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
  const skipped = Object.keys(scripts).filter(
    (name) => /^(?:pre|post)/.test(name) && name.replace(/^(?:pre|post)/, '') in scripts,
  );
  t.same(skipped, []);
});
