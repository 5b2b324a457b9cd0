import { compare } from './compare.js';

/** Compares `openapi.yaml`, or the file that is named, with the document as it was last released. */
const [file = 'openapi.yaml'] = process.argv.slice(2);
const { released, current, changes, wrong } = await compare('scripts/versions/released.yaml', file);

for (const { what, where } of changes.filter(({ breaking }) => breaking)) console.log(`breaking  ${where}: ${what}`);
if (wrong === undefined) {
  console.log(`${current} after ${released}, with ${changes.length} changes: announced as they have to be.`);
} else {
  console.error(wrong);
  process.exitCode = 1;
}
