import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { CommandError } from '../support/command-error.js';
import { operationsOf, resolveReferences } from './document.js';
import { generateHandlers } from './handlers.js';
import { generateRoutes } from './routes.js';
import { generateSerializers } from './serializers.js';
import { generateTypes } from './types.js';
import { generateValidators } from './validators.js';

const BANNER = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n';

/** Returns the contract. @throws CommandError if it is not valid YAML */
function parseContract(text: string) {
  try {
    return parse(text);
  } catch (error) {
    throw new CommandError(`openapi.yaml: ${(error as Error).message.split(':\n', 1)[0]}`);
  }
}

async function generate(): Promise<Record<string, string>> {
  const document = parseContract(await readFile('openapi.yaml', 'utf8'));
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
