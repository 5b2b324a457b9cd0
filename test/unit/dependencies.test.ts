import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { installScriptProblems, isPermissive, licenseProblems } from '../../scripts/dependencies/rules.js';

const bomOf = (licenses: object[]) => ({
  bomFormat: 'CycloneDX',
  components: [{ name: 'a', version: '1.0.0', licenses }],
});

t.test(
  'accepts permissive licenses and expressions with a permissive alternative, and refuses all others',
  async (t) => {
    for (const license of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC']) t.ok(isPermissive(license), license);
    const everyChoiceNeedsGpl = '(MIT OR GPL-3.0-only) AND (GPL-3.0-only OR AGPL-3.0-only)';
    for (const license of ['GPL-3.0-only', 'MIT AND GPL-3.0-only', everyChoiceNeedsGpl, 'UNLICENSED', ''])
      t.notOk(isPermissive(license), license);
    t.same(licenseProblems(bomOf([{ license: { id: 'MIT' } }])), []);
    t.same(licenseProblems(bomOf([{ license: { id: 'AGPL-3.0-only' } }])), ['a@1.0.0: license AGPL-3.0-only']);
    t.same(licenseProblems(bomOf([])), ['a@1.0.0: license unknown']);
  },
);

t.test('refuses a package with an install script, unless package.json lists the package in allowScripts', async (t) => {
  const packages = {
    '': {},
    'node_modules/a': { hasInstallScript: true },
    'node_modules/b/node_modules/@c/d': { hasInstallScript: true },
  };
  t.same(installScriptProblems({ packages }, { a: false, '@c/d': true }), []);
  t.match(installScriptProblems({ packages }, { a: false }), [/^@c\/d: /]);
});

t.test(
  'npm runs no install scripts, and package.json has no pre or post scripts, which npm then skips too',
  async (t) => {
    t.equal(execFileSync('npm', ['config', 'get', 'ignore-scripts'], { encoding: 'utf8' }).trim(), 'true');
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const skipped = Object.keys(scripts).filter(
      (name) => /^(?:pre|post)/.test(name) && name.replace(/^(?:pre|post)/, '') in scripts,
    );
    t.same(skipped, []);
  },
);
