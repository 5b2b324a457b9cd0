import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { RELEASED_FILE } from './compare.js';

/** Records `openapi.yaml` as the last released document. */
await writeFile(RELEASED_FILE, `${JSON.stringify(parse(await readFile('openapi.yaml', 'utf8')))}\n`);
