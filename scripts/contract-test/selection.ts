import { readFile } from 'node:fs/promises';
import { CommandError } from '../support/command-error.js';

/**
 * Returns a predicate for ids that match one of the patterns. A pattern is an id or a prefix up to a dot: `posts.list`
 * selects `posts.list.offset.feed`. A `*` matches any characters.
 */
export function idMatcher(patterns: readonly string[]): (id: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const escaped = pattern.replace(/[^\w*-]/g, '\\$&').replaceAll('*', '.*');
    return new RegExp(`^${escaped}(\\..*)?$`, 'i');
  });
  return (id) => expressions.some((expression) => expression.test(id));
}

/** Reads ids from a text file, one per line. A `#` starts a comment. */
export async function readIdList(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.map((line) => line.replace(/#.*/, '').trim()).filter((id) => id !== '');
}

/**
 * Reads the ids of the rules that failed from a JSON report.
 *
 * @throws CommandError if the file is not such a report
 */
export async function readFailedIds(file: string): Promise<string[]> {
  try {
    const { rules } = JSON.parse(await readFile(file, 'utf8')) as { rules: { id: string; verdict: string }[] };
    return rules.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new CommandError(`${file} is not a JSON report of a run`);
    throw error;
  }
}
