import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { createCommand, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { RELEASED_FILE } from './compare.js';

const CHANGELOG = '.github/CHANGELOG.md';

/** Records the contract, and gives the unreleased entry of the changelog today's date and the version of the contract. */
async function release(): Promise<void> {
  const changes = await readFile(CHANGELOG, 'utf8');
  const document = parse(await readFile('openapi.yaml', 'utf8'));
  const date = new Date().toISOString().slice(0, 10);
  const dated = changes.replace(/^(## \S+ - )unreleased$/m, `$1${date}\n\nContract ${document.info.version}.`);
  if (dated === changes) throw new CommandError(`${CHANGELOG} has no unreleased entry`);
  await writeFile(CHANGELOG, dated);
  await writeFile(RELEASED_FILE, `${JSON.stringify(document)}\n`);
}

await runCommand(
  createCommand('release', 'Releases the service: records openapi.yaml, and dates the entry of the changelog.').action(
    release,
  ),
);
