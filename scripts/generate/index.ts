import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { operationsOf, resolveReferences } from './document.js';
import { generateHandlers } from './handlers.js';
import { generateRoutes } from './routes.js';
import { generateSerializers, SERIALIZERS_TYPES } from './serializers.js';
import { generateTypes } from './types.js';
import { generateValidators, VALIDATORS_TYPES } from './validators.js';

const BANNER = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n';

async function generate(): Promise<Record<string, string>> {
  const document = parse(await readFile('openapi.yaml', 'utf8'));
  const operations = operationsOf(resolveReferences(document));
  return {
    'openapi.json': `${JSON.stringify(document, null, 2)}\n`,
    'types.ts': BANNER + (await generateTypes(document, operations)),
    'handlers.ts': BANNER + generateHandlers(operations),
    'routes.ts': BANNER + generateRoutes(operations),
    'validators.js': BANNER + (await generateValidators(operations)),
    'validators.d.ts': BANNER + VALIDATORS_TYPES,
    'serializers.js': BANNER + (await generateSerializers(operations)),
    'serializers.d.ts': BANNER + SERIALIZERS_TYPES,
  };
}

/** `--check` compares instead of writing, and exits 1 when a committed file is stale. */
const check = process.argv.includes('--check');
const stale: string[] = [];
await mkdir('generated', { recursive: true });
for (const [name, content] of Object.entries(await generate())) {
  const path = `generated/${name}`;
  const committed = await readFile(path, 'utf8').catch(() => undefined);
  if (committed === content) continue;
  if (check) stale.push(path);
  else await writeFile(path, content);
}
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run npm run generate and commit the result.`);
  process.exitCode = 1;
}
