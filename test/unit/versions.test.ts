import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { compare } from '../../scripts/versions/compare.js';
import { isOasdiffBuilt } from '../../scripts/versions/oasdiff.js';
import { versionProblem } from '../../scripts/versions/version-problem.js';
import { temporaryDirectory } from '../support/stores.js';

const RELEASED = 'scripts/versions/released.yaml';
const released: string = parse(await readFile(RELEASED, 'utf8')).info.version;
const [major = 0, minor = 0, patch = 0] = released.split('.').map(Number);
const NEXT = {
  patch: `${major}.${minor}.${patch + 1}`,
  minor: `${major}.${minor + 1}.0`,
  major: `${major + 1}.0.0`,
};

// biome-ignore lint/suspicious/noExplicitAny: the document is changed freely.
type Document = any;

/** Writes a changed copy of the released document, and returns its path. */
async function writeChanged(t: Test, change: (document: Document) => void): Promise<string> {
  const document = parse(await readFile(RELEASED, 'utf8'));
  change(document);
  const file = join(await temporaryDirectory(t), 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

/** Returns a function that returns the problem of a version for the changed document, or 'nothing'. */
async function checkVersionsOf(t: Test, change: (document: Document) => void) {
  const { changes } = await compare(RELEASED, await writeChanged(t, change));
  return (version: string) => versionProblem(released, version, changes) ?? 'nothing';
}

/** Runs the check as a command. */
function check(...files: string[]) {
  const { status, stdout, stderr } = spawnSync('node', ['.build/scripts/versions/index.js', ...files]);
  return { status, output: `${stdout}${stderr}` };
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const deprecate = (sunset?: string) => (document: Document) => {
  const operation = document.paths['/auth/verify'].get;
  operation.deprecated = true;
  if (sunset) operation['x-sunset'] = sunset;
};

/** Breaking changes. oasdiff detects the first one by default, and the others because of the project's configuration. */
const BREAKING: Record<string, (document: Document) => void> = {
  'a response field is removed': ({ components: { schemas } }) => {
    delete schemas.Post.properties.like_count;
    schemas.Post.required = schemas.Post.required.filter((name: string) => name !== 'like_count');
  },
  'a public operation requires credentials': ({ paths }) => {
    paths['/auth/login'].post.security = [{ bearerAuth: [] }];
  },
  'a public operation requires the default credentials': ({ paths }) => {
    delete paths['/auth/login'].post.security;
  },
  'an operation is deprecated without a date': deprecate(),
  'the announced end of an operation is too soon': deprecate(inDays(100)),
};

const ADDING: Record<string, (document: Document) => void> = {
  'an optional field of a body': ({ components: { schemas } }) => {
    schemas.Registration.properties.birthday = { type: 'string' };
  },
  'an operation': ({ paths }) => {
    const { get } = paths['/auth/verify'];
    paths['/auth/whoami'] = { get: { ...get, operationId: 'whoAmI' } };
  },
  'the announced end of an operation': deprecate(inDays(200)),
};

if (isOasdiffBuilt()) testChanges();
else t.pass('documents are compared by oasdiff', { skip: 'needs oasdiff, which npm run check:breaking fetches' });

function testChanges() {
  t.test('a breaking change requires a new major version', async (t) => {
    for (const [what, change] of Object.entries(BREAKING)) {
      const problemOf = await checkVersionsOf(t, change);
      for (const version of [released, NEXT.patch, NEXT.minor]) {
        t.match(problemOf(version), 'need a new major version', `${what}, as ${version}`);
      }
      t.equal(problemOf(NEXT.major), 'nothing', `${what}, as ${NEXT.major}`);
    }
  });

  t.test('an addition requires a new minor version', async (t) => {
    for (const [what, change] of Object.entries(ADDING)) {
      const problemOf = await checkVersionsOf(t, change);
      for (const version of [released, NEXT.patch]) {
        t.match(problemOf(version), 'need a new minor version', `${what}, as ${version}`);
      }
      for (const version of [NEXT.minor, NEXT.major]) t.equal(problemOf(version), 'nothing', `${what}, as ${version}`);
    }
  });

  t.test('a change of descriptions requires no new version', async (t) => {
    const problemOf = await checkVersionsOf(t, (document) => {
      document.info.description = 'The same in other words.';
      document.paths['/posts'].get.summary = 'Read posts';
    });
    for (const version of [released, NEXT.patch]) t.equal(problemOf(version), 'nothing');
  });

  t.test('the command prints breaking changes and fails', async (t) => {
    const { status, output } = check(await writeChanged(t, ({ paths }) => delete paths['/auth/verify']));
    t.equal(status, 1);
    t.match(output, /^breaking {2}GET \/auth\/verify: /m);
    t.match(output, 'need a new major version');
  });
}

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
