import { readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { createCommand, runCommand } from '../support/command.js';
import { RELEASED_FILE } from './compare.js';

await runCommand(
  createCommand('release', 'Records openapi.yaml as the last released document.').action(async () =>
    writeFile(RELEASED_FILE, `${JSON.stringify(parse(await readFile('openapi.yaml', 'utf8')))}\n`),
  ),
);
