import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensureGoProgram } from '../support/go.js';
import { toolsFolder } from '../support/tools-folder.js';

const VERSION = 'v1.33.0';
const GO_PACKAGE = 'github.com/oasdiff/oasdiff';
/** Exists once oasdiff is built. */
export const oasdiffFolder = toolsFolder('oasdiff', VERSION);

/** The minimum number of days between a deprecation and its sunset. */
const DEPRECATION_NOTICE_DAYS = 180;

/** Much more than the largest expected output: a new header on every response produces about 1 MB. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** A change that clients can notice. */
export interface Change {
  description: string;
  /** The operation, or a section of the document outside the operations. */
  location: string;
  breaking: boolean;
}

/** A change as oasdiff reports it. */
interface ReportedChange {
  text: string;
  /** 1 for information, 2 for a warning, 3 for an error. */
  level: number;
  operation?: string;
  path?: string;
  section: string;
}

const run = promisify(execFile);

/** Compares two documents with oasdiff, which is fetched and built first if necessary. */
export async function findChanges(released: string, current: string): Promise<Change[]> {
  const notice = `--deprecation-days-stable=${DEPRECATION_NOTICE_DAYS}`;
  const options = ['--format=json', '--allow-external-refs=false', notice];
  const oasdiff = await ensureGoProgram(oasdiffFolder, GO_PACKAGE, VERSION);
  const { stdout } = await run(oasdiff, ['changelog', ...options, released, current], { maxBuffer: MAX_OUTPUT_BYTES });
  const reported: ReportedChange[] = stdout.trim() === '' ? [] : JSON.parse(stdout);
  return reported.map(({ text, level, operation, path, section }) => ({
    description: text,
    location: operation ? `${operation} ${path}` : section,
    breaking: level > 1,
  }));
}
