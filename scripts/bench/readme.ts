import type { StackName } from './goals.js';

const BEGIN = '<!-- Written by npm run bench -->';
const END = '<!-- until here -->';

/** Which line of the three is whose. */
const PLACES: Record<StackName, number> = { embedded: 0, services: 1 };

/** The README with what a run on this stack has found: its own line, and the one that says where and when. */
export function withSpeed(readme: string, stack: StackName, line: string, where: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('README.md has no place for the figures');
  const lines = readme
    .slice(begin + BEGIN.length, end)
    .trim()
    .split('\n');
  lines[PLACES[stack]] = line;
  lines[2] = where;
  return `${readme.slice(0, begin)}${BEGIN}\n${lines.join('\n')}\n${readme.slice(end)}`;
}
