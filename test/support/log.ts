/** Returns the entries of a JSON log. Ignores other lines, such as those printed when the service starts. */
export const parseLog = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
