import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createCommand, runCommand } from '../support/command.js';
import { table } from '../support/table.js';
import { type Bom, installScriptProblems, licenseOf, licenseProblems } from './rules.js';

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

function run({ sbom }: { sbom?: string }): void {
  const text = execFileSync('npm', ['sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const bom = JSON.parse(text) as Bom;
  if (bom.bomFormat !== 'CycloneDX' || bom.components.length === 0)
    throw new Error('Expected a CycloneDX document with components from npm sbom');
  if (sbom !== undefined) writeFileSync(sbom, text);

  const counts = new Map<string, number>();
  for (const license of bom.components.map(licenseOf)) counts.set(license, (counts.get(license) ?? 0) + 1);
  console.log(table([...counts].map(([license, count]) => ({ license, packages: String(count) }))));

  const { allowScripts } = readJson('package.json');
  const problems = [...licenseProblems(bom), ...installScriptProblems(readJson('package-lock.json'), allowScripts)];
  for (const problem of problems) console.error(problem);
  console.log(`\n${bom.components.length} production packages, ${problems.length} problems.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

await runCommand(
  createCommand(
    'check:dependencies',
    'Checks the licenses of the production dependencies, and the install scripts of all packages.',
  )
    .option('--sbom <file>', 'also writes the SBOM of npm to a file, in CycloneDX format')
    .action(run),
);
