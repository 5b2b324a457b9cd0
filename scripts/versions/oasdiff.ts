import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toolsFolder } from '../tools/folder.js';
import { GET_GO, installGoProgram } from '../tools/go.js';

const VERSION = 'v1.33.0';
const SOURCE = 'github.com/oasdiff/oasdiff';

/** Of what is deprecated, how many days lie between the notice and the end, at least. */
const NOTICE = 180;

/** What it may say at most, in bytes: a new header on every answer fills a megabyte. */
const LONGEST = 256 * 1024 * 1024;

/** One difference that a client can notice. */
export interface Change {
  what: string;
  /** The operation, or the part of the document outside of all operations. */
  where: string;
  breaking: boolean;
}

/** What oasdiff says of a change: 1 for information, 2 for a warning, 3 for an error. */
interface Finding {
  text: string;
  level: number;
  operation?: string;
  path?: string;
  section: string;
}

const run = promisify(execFile);

/** What is different for clients between two documents, by oasdiff, which is fetched and built the first time. */
export async function differences(released: string, current: string): Promise<Change[]> {
  const options = ['--format', 'json', '--allow-external-refs=false', '--deprecation-days-stable', String(NOTICE)];
  const { stdout } = await run(await oasdiff(), ['changelog', ...options, released, current], { maxBuffer: LONGEST });
  const findings: Finding[] = stdout.trim() === '' ? [] : JSON.parse(stdout);
  return findings.map(({ text, level, operation, path, section }) => ({
    what: text,
    where: operation ? `${operation} ${path}` : section,
    breaking: level > 1,
  }));
}

const directory = toolsFolder('oasdiff', VERSION);

export const isFetched = (): boolean => existsSync(directory);

async function oasdiff(): Promise<string> {
  if (!isFetched()) {
    await run('go', ['version']).catch(() => {
      throw new Error(`Go is needed to build oasdiff: ${GET_GO}`);
    });
    await installGoProgram(directory, SOURCE, VERSION, (args, env) =>
      run('go', args, { env: { ...process.env, ...env } }),
    );
  }
  return join(directory, 'oasdiff');
}
