import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { updateGenerated } from '../../scripts/generate/files.js';
import { collectOutput } from '../support/output.js';
import { copyProject } from '../support/project-copy.js';

/** Runs `npm run generate` in a directory. */
async function runGenerate(cwd: string, ...options: string[]) {
  const child = spawn('node_modules/.bin/tsx', ['scripts/generate/index.ts', ...options], { cwd });
  const output = collectOutput(child);
  const [code] = await once(child, 'close');
  return { code, output: output() };
}

t.test('generated files are up to date, also when the generator runs again in one process', async (t) => {
  for (let run = 0; run < 2; run += 1) t.same(await updateGenerated({ dryRun: true }), []);
});

t.test('--check lists the files that would change, and without it they are written', async (t) => {
  const { directory, replaceIn } = await copyProject(t, ['openapi.yaml', 'package.json', 'generated', 'scripts']);
  const readJson = () => readFile(join(directory, 'generated', 'openapi.json'), 'utf8');
  const json = await readJson();
  await replaceIn('openapi.yaml', 'maxLength: 200', 'maxLength: 201');
  await replaceIn('generated/routes.ts', '"requiresAuthentication":true', '"requiresAuthentication":false');
  const { code, output } = await runGenerate(directory, '--check');
  t.equal(code, 1);
  t.match(output, /^Stale: generated\/openapi\.json, generated\/routes\.ts, generated\/validators\.js\. /);
  t.equal(await readJson(), json);

  const written = 'Wrote generated/openapi.json, generated/routes.ts, generated/validators.js.\n';
  t.same(await runGenerate(directory), { code: 0, output: written });
  t.match(await readJson(), '"maxLength": 201');
});

/** Returns the path and the text of each source file in a directory. */
async function readSources(directory: string): Promise<[path: string, source: string][]> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => /\.[jt]s$/.test(name));
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => [name, await readFile(join(directory, name), 'utf8')]),
  );
}

t.test('generated files import only each other, and packages that compile no schema', async (t) => {
  const allowed = /^(\.\/\w+\.js|node:module|ajv\/dist\/runtime\/ucs2length|fast-json-stringify\/lib\/serializer)$/;
  const sources = await readSources('generated');
  t.ok(sources.length > 0);
  for (const [path, source] of sources) {
    for (const [, name] of source.matchAll(/\b(?:from |import |import\(|require\()['"]([^'"]+)['"]/g)) {
      t.match(name, allowed, path);
    }
  }
});

t.test('no schema is compiled at run time', async (t) => {
  for (const [path, source] of [...(await readSources('handlers')), ...(await readSources('db'))]) {
    const code = source.replace(/^import type .*$/gm, '');
    t.notMatch(code, /'(ajv|fast-json-stringify)|set(Validator|Serializer)Compiler|compile\w+Schema/, path);
  }
});
