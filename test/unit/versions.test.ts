import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { compare, RELEASED_FILE } from '../../scripts/versions/compare.js';
import { isOasdiffBuilt } from '../../scripts/versions/oasdiff.js';
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

const needsOasdiff = { skip: !isOasdiffBuilt() && 'needs oasdiff, which npm run check:breaking fetches' };

for (const [kind, cases] of Object.entries(CHANGES)) {
  t.test(`classifies changes as ${kind}`, needsOasdiff, async (t) => {
    for (const [what, change] of Object.entries(cases)) {
      const { changes } = await compare(RELEASED_FILE, await writeChanged(t, change));
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

t.test('a release names its version in package.json and the changelog, and records the contract', async (t) => {
  const directory = await temporaryDirectory(t);
  const read = (name: string) => readFile(join(directory, name), 'utf8');
  for (const name of ['package.json', 'package-lock.json', 'openapi.yaml', '.github/CHANGELOG.md'])
    await cp(name, join(directory, name));
  await cp(RELEASED_FILE, join(directory, RELEASED_FILE));
  const release = resolve('.build/scripts/versions/release.js');
  await promisify(execFile)(process.execPath, [release, '99.0.0'], { cwd: directory });
  t.equal(JSON.parse(await read('package.json')).version, '99.0.0');
  t.match(await read('.github/CHANGELOG.md'), /^## Unreleased\n\n## 99\.0\.0 - \d{4}-\d\d-\d\d\n\n### /m);
  t.same(JSON.parse(await read(RELEASED_FILE)), parse(await readFile('openapi.yaml', 'utf8')));
});
