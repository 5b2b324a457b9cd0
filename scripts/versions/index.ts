import { createCommand, runCommand } from '../support/command.js';
import { compare, RELEASED_FILE } from './compare.js';

async function run(file: string): Promise<void> {
  const { released, current, changes, problem } = await compare(RELEASED_FILE, file);
  for (const { description, location } of changes.filter(({ breaking }) => breaking))
    console.log(`breaking  ${location}: ${description}`);
  if (problem === undefined) {
    console.log(`${current} after ${released}, with ${changes.length} changes: the version number is correct.`);
  } else {
    console.error(problem);
    process.exitCode = 1;
  }
}

await runCommand(
  createCommand('check:breaking', 'Checks that info.version reflects the changes since the last release.')
    .argument('[file]', 'the document to compare with the released one', 'openapi.yaml')
    .action(run),
);
