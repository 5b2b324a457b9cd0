import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { newlySecured } from './credentials.js';
import { type Change, differences } from './oasdiff.js';
import { wrongVersion } from './verdict.js';

export interface Comparison {
  released: string;
  current: string;
  changes: Change[];
  /** What is wrong with the current version, if anything is. */
  wrong: string | undefined;
}

/** Compares two documents: what has changed for clients, and whether the second one's version says as much. */
export async function compare(releasedFile: string, currentFile: string): Promise<Comparison> {
  const [before, after] = await Promise.all(
    [releasedFile, currentFile].map(async (file) => parse(await readFile(file, 'utf8'))),
  );
  const changes = [...(await differences(releasedFile, currentFile)), ...newlySecured(before, after)];
  const [released, current] = [before.info.version, after.info.version];
  return { released, current, changes, wrong: wrongVersion(released, current, changes) };
}
