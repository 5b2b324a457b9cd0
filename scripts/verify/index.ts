import { readBacklog } from '../../db/outbox/backlog.js';
import type { Database } from '../../db/postgres/index.js';
import { readConfig } from '../../handlers/config/index.js';
import { requireDatabase, withBareStores } from '../support/bare-stores.js';
import { commandLine, runCommand } from '../support/command.js';
import { showProgress } from '../support/progress.js';
import { createServiceCommand } from '../support/service-command.js';
import { table } from '../support/table.js';
import { repair } from './repair.js';
import { type Finding, verify } from './verify.js';

const MAX_EXAMPLES = 5;

const isViolated = ({ keys }: Finding) => keys.length > 0;
const isRepairable = (finding: Finding) => isViolated(finding) && finding.repairedBy !== undefined;

const findingRow = ({ title, keys }: Finding) => ({
  difference: title,
  found: String(keys.length),
  examples: [...keys.slice(0, MAX_EXAMPLES), ...(keys.length > MAX_EXAMPLES ? ['…'] : [])].join(', '),
});

async function describeOutbox(db: Database): Promise<string> {
  const backlogs = (await readBacklog(db)).filter(({ waiting }) => waiting > 0);
  if (backlogs.length === 0) return 'The outbox is empty.';
  const kinds = backlogs.map(({ kind, waiting, overdue }) => `${kind} ${waiting} (${overdue} due)`);
  return `Changes in the outbox, which are not differences: ${kinds.join(', ')}.`;
}

function describeConclusion(findings: readonly Finding[], failures: number, repairLine: string): string {
  if (failures > 0) return `${failures} repairs failed: see the log. The service retries them.`;
  if (findings.some(isRepairable)) return `The stores disagree: repair them with ${repairLine}`;
  if (findings.some(isViolated)) return 'Images are lost: restore their files from a backup of the image store.';
  return 'The stores agree.';
}

// Exits with 0 if the stores agree, with 1 if they disagree, and with 2 if they could not be checked.
async function run(options: { repair?: boolean; envFile?: string }): Promise<void> {
  requireDatabase(readConfig(process.env).stores);
  await withBareStores(async (stores, log) => {
    const compare = async () => {
      const findings = await showProgress((progress) => verify(stores, progress));
      console.log(`${table(findings.map(findingRow))}\n\n${await describeOutbox(stores.maintenanceDb)}\n`);
      return findings;
    };
    let findings = await compare();
    let failures = 0;
    if (options.repair && findings.some(isRepairable)) {
      failures = await showProgress((progress) => repair(stores, findings, log, progress));
      console.log('Repaired and compared again:\n');
      findings = await compare();
    }
    console.log(describeConclusion(findings, failures, commandLine('run verify', options, '--repair')));
    process.exitCode = failures > 0 || findings.some(isViolated) ? 1 : 0;
  });
}

const command = createServiceCommand('verify', 'Checks whether the stores agree, and exits with 1 if they disagree.')
  .option('--repair', 'makes the graph and the image store agree with PostgreSQL')
  .action(run);
await runCommand(command, 2);
