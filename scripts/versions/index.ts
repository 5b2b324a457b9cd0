import { compare, RELEASED_FILE } from './compare.js';

/** Compares `openapi.yaml`, or the given file, with the last released document. */
const [file = 'openapi.yaml'] = process.argv.slice(2);
const { released, current, changes, problem } = await compare(RELEASED_FILE, file);

for (const { description, location } of changes.filter(({ breaking }) => breaking))
  console.log(`breaking  ${location}: ${description}`);
if (problem === undefined) {
  console.log(`${current} after ${released}, with ${changes.length} changes: the version number is correct.`);
} else {
  console.error(problem);
  process.exitCode = 1;
}
