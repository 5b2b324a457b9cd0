import type { StackName } from './goals.js';

const BEGIN = '<!-- Written by npm run bench -->';
const END = '<!-- until here -->';

/** The index of each stack's line; the third line describes the machine. */
const LINE_INDEX: Record<StackName, number> = { embedded: 0, services: 1 };

/** Returns the README with this stack's line and the line about the machine replaced. */
export function updateSpeedSection(readme: string, stack: StackName, line: string, machineLine: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`Expected ${BEGIN} and ${END} in README.md`);
  const lines = readme
    .slice(begin + BEGIN.length, end)
    .trim()
    .split('\n');
  lines[LINE_INDEX[stack]] = line;
  lines[2] = machineLine;
  return `${readme.slice(0, begin)}${BEGIN}\n${lines.join('\n')}\n${readme.slice(end)}`;
}
