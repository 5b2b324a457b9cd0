import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createCommand, runCommand } from '../support/command.js';
import { RELEASED_FILE } from './compare.js';

const CHANGELOG = '.github/CHANGELOG.md';

/** Records the contract, sets the version of the service, and gives the unreleased changes this version and today's date. */
async function release(version: string): Promise<void> {
  await promisify(execFile)('npm', ['version', version, '--no-git-tag-version']);
  const date = new Date().toISOString().slice(0, 10);
  const changes = await readFile(CHANGELOG, 'utf8');
  await writeFile(CHANGELOG, changes.replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${date}\n`));
  await writeFile(RELEASED_FILE, `${JSON.stringify(parse(await readFile('openapi.yaml', 'utf8')))}\n`);
}

await runCommand(
  createCommand('release', 'Releases the service: records openapi.yaml, and updates package.json and the changelog.')
    .argument('<version>', 'the version of the service, such as 2.1.0')
    .action(release),
);
