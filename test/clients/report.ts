import { readFile, writeFile } from 'node:fs/promises';
import { table } from '../../scripts/table.js';
import type { Outcome } from './command.js';
import { type Client, nameOf } from './generators.js';
import { others } from './languages.js';

export interface Result {
  client: Client;
  generated?: Outcome;
  compiled?: Outcome;
  ran?: Outcome;
}

const cell = (outcome: Outcome | undefined) =>
  outcome === undefined ? '' : `${outcome.ok ? 'ok' : 'FAILED'} ${outcome.seconds.toFixed(1)} s`;

/** Returns the table for the terminal. */
export const resultTable = (results: readonly Result[]): string =>
  table(
    results.map(({ client, generated, compiled, ran }) => ({
      client: nameOf(client),
      generator: client.generator,
      generates: cell(generated),
      compiles: cell(compiled),
      runs: cell(ran),
      options: client.remarks,
    })),
  );

const yesOrNo = (outcome: Outcome | undefined) => (outcome === undefined ? '' : outcome.ok ? 'yes' : '**no**');

/** Returns the table for `test/clients/README.md`, in Markdown. */
export function readmeTable(results: readonly Result[]): string {
  const rows = results.map(({ client, generated, compiled, ran }) => [
    client.language === others ? client.name : nameOf(client),
    client.generator,
    client.command === undefined ? 'copy `generated/types.ts`' : `\`${client.command}\``,
    yesOrNo(generated),
    yesOrNo(compiled),
    yesOrNo(ran),
    client.remarks,
  ]);
  const head = ['Client', 'Generator', 'Command', 'Generates', 'Compiles', 'Runs', 'Remarks'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const README = 'test/clients/README.md';
/** Matches the table between its two markers. */
const TABLE = /(?<=<!-- clients -->\n).*?(?=<!-- \/clients -->)/s;

export async function tableInReadme(): Promise<string> {
  return TABLE.exec(await readFile(README, 'utf8'))?.[0] ?? '';
}

export async function writeTableInReadme(text: string): Promise<void> {
  await writeFile(
    README,
    (await readFile(README, 'utf8')).replace(TABLE, () => text),
  );
}
