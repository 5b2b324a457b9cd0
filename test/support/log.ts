/** Returns the entries of a JSON log. Other lines, such as those of a start, are ignored. */
export const parseLog = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
