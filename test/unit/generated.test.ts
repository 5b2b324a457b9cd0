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
  await replaceIn('generated/routes.ts', '"secured":true', '"secured":false');
  const { code, output } = await runGenerate(directory, '--check');
  t.equal(code, 1);
  t.match(output, /^Stale: generated\/openapi\.json, generated\/routes\.ts, generated\/validators\.js\. /);
  t.equal(await readJson(), json);

  const written = 'Wrote generated/openapi.json, generated/routes.ts, generated/validators.js.\n';
  t.same(await runGenerate(directory), { code: 0, output: written });
  t.match(await readJson(), '"maxLength": 201');
});

const sourcesOf = async (directory: string) =>
  (await readdir(directory, { recursive: true })).filter((name) => /\.[jt]s$/.test(name));

/** Returns the modules that a source imports, at run time and only for types. */
function importsOf(source: string) {
  const statements = [...source.matchAll(/^(?:import|export) (type )?[^;'"]*?from ['"]([^'"]+)['"]/gm)];
  const others = [...source.matchAll(/^import ['"]([^'"]+)['"]|(?<!')\b(?:import|require)\(['"]([^'"]+)['"]\)/gm)];
  return {
    types: statements.filter(([, type]) => type).map(([, , name]) => name ?? ''),
    values: [
      ...statements.filter(([, type]) => !type).map(([, , name]) => name ?? ''),
      ...others.map(([, a, b]) => a ?? b),
    ],
  };
}

/** Run-time dependencies of the generated validators and serializers. None of them compiles a schema. */
const RUNTIME = /^(node:module|ajv\/dist\/runtime\/ucs2length|fast-json-stringify\/lib\/serializer)$/;

t.test('generated files import no hand-written modules, and at run time only packages', async (t) => {
  const files = await sourcesOf('generated');
  const siblings = files.map((name) => `./${name.replace(/\.ts$/, '.js')}`);
  t.ok(files.length > 0);
  for (const name of files) {
    const { types, values } = importsOf(await readFile(join('generated', name), 'utf8'));
    t.same(
      values.filter((imported) => !RUNTIME.test(imported ?? '')),
      [],
      `${name}: imports`,
    );
    t.same(
      types.filter((imported) => !siblings.includes(imported)),
      [],
      `${name}: types`,
    );
  }
});

t.test('no schema is compiled at run time', async (t) => {
  for (const directory of ['handlers', 'db']) {
    for (const name of await sourcesOf(directory)) {
      const source = await readFile(join(directory, name), 'utf8');
      const compilers = importsOf(source).values.filter((imported) =>
        /ajv|fast-json-stringify|schema/.test(imported ?? ''),
      );
      t.same(compilers, [], name);
      t.notMatch(source, /setValidatorCompiler|setSerializerCompiler|compile(Validation|Serialization)Schema/, name);
    }
  }
});
