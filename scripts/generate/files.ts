import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { operationsOf, resolveReferences } from './document.js';
import { generateHandlers } from './handlers.js';
import { generateRoutes } from './routes.js';
import { generateSerializers } from './serializers.js';
import { generateTypes } from './types.js';
import { generateValidators } from './validators.js';

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
    'serializers.js': BANNER + (await generateSerializers(operations)),
  };
}

/** Generates all files, writes those that have changed unless `dryRun` is set, and returns their paths. */
export async function updateGenerated({ dryRun = false } = {}): Promise<string[]> {
  const changed: string[] = [];
  await mkdir('generated', { recursive: true });
  for (const [name, content] of Object.entries(await generate())) {
    const path = `generated/${name}`;
    const existing = await readFile(path, 'utf8').catch(() => undefined);
    if (existing === content) continue;
    changed.push(path);
    if (!dryRun) await writeFile(path, content);
  }
  return changed;
}
