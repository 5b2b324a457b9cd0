import { parseArgs } from 'node:util';
import { updateGenerated } from './files.js';

/** `--check` compares instead of writing, and exits with 1 if a file in generated/ is stale. */
const { check } = parseArgs({ options: { check: { type: 'boolean', default: false } } }).values;
const changed = await updateGenerated({ dryRun: check });
if (!check) {
  console.log(changed.length > 0 ? `Wrote ${changed.join(', ')}.` : 'generated/ is up to date.');
} else if (changed.length > 0) {
  console.error(`Stale: ${changed.join(', ')}. Run npm run generate and commit the result.`);
  process.exitCode = 1;
}
