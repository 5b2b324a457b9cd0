import { readConfig } from '../../handlers/config/index.js';
import { requireDatabase, withBareStores } from '../support/bare-stores.js';
import { runCommand } from '../support/command.js';
import { showProgress } from '../support/progress.js';
import { createServiceCommand } from '../support/service-command.js';
import { table } from '../support/table.js';
import type { PendingEntries } from './outbox.js';
import type { Finding } from './rules.js';
import { type VerifyResult, verify } from './verify.js';

const countUnresolved = ({ found, repaired }: Finding) => found - repaired;
const isNote = ({ rule }: Finding) => rule.note === true;
const isViolated = (finding: Finding) => countUnresolved(finding) > 0 && !isNote(finding);

function printResult({ findings, pending }: VerifyResult, repair: boolean): void {
  console.log(table(findings.map((finding) => findingRow(finding, repair))));
  console.log(`\n${pending.length > 0 ? table(pending.map(pendingRow)) : 'The outbox is empty.'}\n`);
  for (const { rule, repaired } of findings)
    if (repaired > 0) console.log(`Repaired: ${rule.title}: ${rule.remedy} (${repaired}).`);
  for (const finding of findings.filter(countUnresolved)) console.log(describeUnresolved(finding, repair));
  console.log(formatConclusion(findings));
}

function findingRow(finding: Finding, repair: boolean): Record<string, string> {
  const { rule, found, repaired, examples } = finding;
  return {
    rule: rule.title,
    holds: statusOf(finding),
    found: String(found),
    ...(repair && { repaired: String(repaired) }),
    examples: `${examples.join('; ')}${found > examples.length ? '; …' : ''}`,
  };
}

function statusOf(finding: Finding): string {
  if (finding.found === 0) return 'yes';
  if (isNote(finding)) return 'note';
  return countUnresolved(finding) > 0 ? 'NO' : 'repaired';
}

function pendingRow({ kind, stage, count, attempts, since }: PendingEntries): Record<string, string> {
  return {
    'in the outbox': kind,
    'waits for': stage,
    entries: String(count),
    'most attempts': String(attempts),
    since,
  };
}

function describeUnresolved(finding: Finding, repair: boolean): string {
  const { rule } = finding;
  const advice = rule.advice ?? (repair ? 'the outbox will retry' : 'repair with npm run verify -- --repair');
  return `${isNote(finding) ? 'Note' : 'Unresolved'}: ${rule.title} (${countUnresolved(finding)} left): ${advice}.`;
}

function formatConclusion(findings: readonly Finding[]): string {
  const violated = findings.filter(isViolated);
  if (violated.length === 0) return 'The stores agree.';
  return `The stores disagree: ${violated.length} of ${findings.length} rules are violated.`;
}

// Exits with 0 if the stores agree, with 1 if they disagree, and with 2 if they could not be checked.
async function run({ repair = false }: { repair?: boolean }): Promise<void> {
  requireDatabase(readConfig(process.env).stores);
  await withBareStores(async (stores, log) => {
    const result = await showProgress((progress) => verify(stores, { repair, log, progress }));
    printResult(result, repair);
    process.exitCode = result.findings.some(isViolated) ? 1 : 0;
  });
}

const command = createServiceCommand('verify', 'Checks whether the stores agree, and exits with 1 if they disagree.')
  .option('--repair', 'makes the graph and the image store agree with PostgreSQL')
  .action(run);
await runCommand(command, 2);
