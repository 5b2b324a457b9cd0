import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { createCommand, runCommand } from '../support/command.js';
import { version } from './client/index.js';

const NAME = 'social-posting-contract-test';
const FOLDER = '.build/contract-test-package';

/** Returns the license texts of the bundled packages. The licenses require that copies include them. */
async function readLicenses(inputs: string[]): Promise<string> {
  const folders = inputs.map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const texts = [...new Set(folders)].sort().map(async (folder) => {
    if (folder === undefined) return '';
    const { name, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const files = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE'].map((file) => join(folder, file));
    const text = await Promise.any(files.map((file) => readFile(file, 'utf8'))).catch(() => '');
    return `${name}, ${license}\n\n${text.trim()}\n\n`;
  });
  return (await Promise.all(texts)).join('');
}

async function pack(): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const { metafile } = await build({
    entryPoints: ['scripts/contract-test/index.ts'],
    outfile: join(FOLDER, 'contract-test.js'),
    bundle: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'warning',
    banner: {
      // CommonJS packages need `require`, which ES modules lack.
      js: "#!/usr/bin/env node\nimport { createRequire as $createRequire } from 'node:module';\nconst require = $createRequire(import.meta.url);",
    },
  });
  const { engines, license } = JSON.parse(await readFile('package.json', 'utf8'));
  const manifest = {
    name: NAME,
    version,
    description: 'Checks whether a service implements the contract of the social posting service',
    license,
    type: 'module',
    bin: { 'contract-test': 'contract-test.js' },
    imports: { '#openapi.json': './openapi.json' },
    engines,
  };
  await writeFile(join(FOLDER, 'package.json'), JSON.stringify(manifest, null, 2));
  await writeFile(join(FOLDER, 'LICENSES.txt'), await readLicenses(Object.keys(metafile.inputs)));
  await copyFile('generated/openapi.json', join(FOLDER, 'openapi.json'));
  await copyFile('scripts/contract-test/README.md', join(FOLDER, 'README.md'));

  await promisify(execFile)('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', resolve('.build')], {
    cwd: FOLDER,
  });
  const tarball = join('.build', `${NAME}-${version}.tgz`);
  console.log(`${tarball}  ${((await stat(tarball)).size / 1000).toFixed(0)} kB`);
}

await runCommand(
  createCommand('pack:contract-test', 'Packs the contract tests as an npm tarball without dependencies.').action(pack),
);
