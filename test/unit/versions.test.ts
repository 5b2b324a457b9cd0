import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { compare, RELEASED_FILE } from '../../scripts/versions/compare.js';
import { oasdiffFolder } from '../../scripts/versions/oasdiff.js';
import { versionProblem } from '../../scripts/versions/version-problem.js';
import { runCommand } from '../support/processes.js';
import { temporaryDirectory } from '../support/stores.js';

// biome-ignore lint/suspicious/noExplicitAny: the document is changed freely.
type Document = any;

/** Writes a changed copy of the released document, and returns its path. */
async function writeChanged(t: Test, change: (document: Document) => void): Promise<string> {
  const document = JSON.parse(await readFile(RELEASED_FILE, 'utf8'));
  change(document);
  const file = join(await temporaryDirectory(t), 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const deprecate = (sunset?: string) => (document: Document) => {
  const operation = document.paths['/auth/verify'].get;
  operation.deprecated = true;
  if (sunset) operation['x-sunset'] = sunset;
};

/**
 * Changes by their kind. Of the breaking ones, oasdiff reports the removed field by default, and the deprecations because of an
 * option. `compare` itself finds the operations that newly require credentials.
 */
const CHANGES: Record<'breaking' | 'adding' | 'none', Record<string, (document: Document) => void>> = {
  breaking: {
    'a response field is removed': ({ components: { schemas } }) => {
      delete schemas.Post.properties.like_count;
      schemas.Post.required = schemas.Post.required.filter((name: string) => name !== 'like_count');
    },
    'another pattern': ({ components: { schemas } }) => {
      schemas.Password.pattern = '^.+$';
    },
    'a public operation requires credentials': ({ paths }) => {
      paths['/auth/login'].post.security = [{ bearerAuth: [] }];
    },
    'a public operation requires the default credentials': ({ paths }) => {
      delete paths['/auth/login'].post.security;
    },
    'an operation is deprecated without a sunset': deprecate(),
    'an operation is deprecated with a sunset that is too soon': deprecate(inDays(100)),
  },
  adding: {
    'an optional field of a body': ({ components: { schemas } }) => {
      schemas.Registration.properties.birthday = { type: 'string' };
    },
    'an operation': ({ paths }) => {
      const { get } = paths['/auth/verify'];
      paths['/auth/whoami'] = { get: { ...get, operationId: 'whoAmI' } };
    },
    'an operation is deprecated with a later sunset': deprecate(inDays(200)),
    'a pattern that is known to be compatible': ({ components: { schemas } }) => {
      schemas.PostTitle.pattern = '^.+$';
    },
  },
  none: {
    'other descriptions': ({ info, paths }) => {
      info.description = 'The same in other words.';
      paths['/posts'].get.summary = 'Read posts';
    },
  },
};

const needsOasdiff = { skip: !existsSync(oasdiffFolder) && 'needs oasdiff, which npm run check:breaking fetches' };

for (const [kind, cases] of Object.entries(CHANGES)) {
  t.test(`classifies changes as ${kind}`, needsOasdiff, async (t) => {
    // The patterns that are known to be compatible are so since this release.
    const released = await writeChanged(t, ({ info }) => Object.assign(info, { version: '2.0.0' }));
    for (const [what, change] of Object.entries(cases)) {
      const { changes } = await compare(released, await writeChanged(t, change));
      const isBreaking = changes.some(({ breaking }) => breaking);
      t.equal(isBreaking ? 'breaking' : changes.length > 0 ? 'adding' : 'none', kind, what);
    }
  });
}

t.test('the command prints breaking changes and fails', needsOasdiff, async (t) => {
  const changed = await writeChanged(t, ({ paths }) => delete paths['/auth/verify']);
  const { code, output } = await runCommand(t, ['versions/index', changed], { TOOLS_DIR: process.env.TOOLS_DIR });
  t.equal(code, 1);
  t.match(output, /^breaking {2}GET \/auth\/verify: /m);
  t.match(output, 'need a new major version');
});

t.test('the version matches the changes', async (t) => {
  const breaking = [{ description: '', location: '', breaking: true }];
  const adding = [{ description: '', location: '', breaking: false }];
  for (const [from, to, changes, isValid] of [
    ['1.2.3', '1.2.3', [], true],
    ['1.2.3', '1.2.4', [], true],
    ['1.2.3', '1.2.4', adding, false],
    ['1.2.3', '1.3.0', adding, true],
    ['1.9.0', '1.10.0', adding, true],
    ['1.2.3', '2.0.0', adding, true],
    ['1.2.3', '1.3.0', breaking, false],
    ['1.2.3', '2.0.0', breaking, true],
    ['2.0.0', '1.9.9', [], false],
    ['1.10.0', '1.9.0', [], false],
  ] as const) {
    t.equal(versionProblem(from, to, changes) === undefined, isValid, `${from} to ${to}`);
  }
  t.throws(() => versionProblem('1.0', '1.0.0', []));
});

const CHANGELOG = '.github/CHANGELOG.md';

t.test('the top entry of the changelog is the version of the service, and no other entry is unreleased', async (t) => {
  const entries = [...(await readFile(CHANGELOG, 'utf8')).matchAll(/^## (.*)$/gm)].map(([, title = '']) => title);
  const [top = '', ...others] = entries.map((title) => title.split(' - '));
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const locked = JSON.parse(await readFile('package-lock.json', 'utf8'));
  t.same([top[0], locked.version, locked.packages[''].version], [version, version, version]);
  t.match(top[1], /^(unreleased|\d{4}-\d\d-\d\d)$/);
  for (const [, date] of others) t.match(date, /^\d{4}-\d\d-\d\d$/);
});

t.test('a release dates the unreleased entry of the changelog, once, and records the contract', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = (name: string) => join(directory, name);
  await cp('openapi.yaml', file('openapi.yaml'));
  await cp(RELEASED_FILE, file(RELEASED_FILE));
  await cp(CHANGELOG, file(CHANGELOG));
  await writeFile(file(CHANGELOG), '# Changelog\n\n## 2.0.0 - unreleased\n\n- a\n\n## 1.0.0 - 2026-11-21\n');
  const release = () =>
    promisify(execFile)(process.execPath, [resolve('.build/scripts/versions/release.js')], { cwd: directory });
  await release();
  const document = parse(await readFile('openapi.yaml', 'utf8'));
  t.equal(
    (await readFile(file(CHANGELOG), 'utf8')).replace(/ \d{4}-\d\d-\d\d\n/, ' DATE\n'),
    `# Changelog\n\n## 2.0.0 - DATE\n\nContract ${document.info.version}.\n\n- a\n\n## 1.0.0 - 2026-11-21\n`,
  );
  t.same(JSON.parse(await readFile(file(RELEASED_FILE), 'utf8')), document);
  await t.rejects(release(), { code: 1, stderr: `${CHANGELOG} has no unreleased entry\n` });
});
