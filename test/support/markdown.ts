import { existsSync, readFileSync } from 'node:fs';

/** Returns the sections of a Markdown document, each of which begins with its title. */
export const sectionsOf = (document: string): string[] => document.split(/^## /m).slice(1);

/** Returns the section with this title from a Markdown document. Throws if the document has no such section. */
export function sectionOf(document: string, title: string): string {
  const found = document.split(/^##? /m).find((section) => section.startsWith(`${title}\n`));
  if (found === undefined) throw new Error(`no section “${title}”`);
  return found;
}

/** Returns the cells of each row of a section's table, without the header row. */
export const rowsOf = (section: string): string[][] =>
  section
    .split('\n')
    .filter((line) => /^\|(?!-)/.test(line))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

/** Returns the tests that a Markdown document names, as `path` or as `path`: "title". */
export const testsNamedIn = (document: string): { path: string; title: string | undefined }[] =>
  [...document.matchAll(/`(test\/[^`]+)`(?:: "([^"]+)")?/g)].map(([, path = '', title]) => ({ path, title }));

/** Returns the tests that a Markdown document names but that do not exist. */
export const missingTests = (document: string): string[] =>
  testsNamedIn(document).flatMap(({ path, title }) => {
    if (!existsSync(path)) return [path];
    const source = readFileSync(path, 'utf8');
    const exists = title === undefined || ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
    return exists ? [] : [`${path}: ${title}`];
  });
