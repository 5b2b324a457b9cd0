import { createCommand, runCommand } from '../support/command.js';
import { updateGenerated } from './files.js';

async function run({ check = false }: { check?: boolean }): Promise<void> {
  const changed = await updateGenerated({ dryRun: check });
  if (!check) {
    console.log(changed.length > 0 ? `Wrote ${changed.join(', ')}.` : 'generated/ is up to date.');
  } else if (changed.length > 0) {
    console.error(`Stale: ${changed.join(', ')}. Run npm run generate and commit the result.`);
    process.exitCode = 1;
  }
}

await runCommand(
  createCommand('generate', 'Generates generated/ from openapi.yaml.')
    .option('--check', 'writes nothing, and exits with 1 if a file is not up to date')
    .action(run),
);
