import { readConfig } from '../../handlers/config/index.js';
import { configWarnings } from '../../handlers/config/warnings.js';
import { runCommand } from '../support/command.js';
import { createServiceCommand } from '../support/service-command.js';
import { table } from '../support/table.js';
import { type CheckRow, warning } from './checks.js';
import { checkMachine } from './machine.js';
import { checkNeo4j } from './neo4j.js';
import { checkPostgres } from './postgres.js';
import { checkRedis } from './redis.js';
import { checkS3 } from './s3.js';

/*
 * Checks what a start of the service does not see: versions, privileges and limits of the stores, their clock, and limits of this
 * machine. It can run beside the service, because it only reads, except for an object in the bucket that it deletes again. Exits
 * with 1 if a check fails, with 2 on wrong usage or an invalid configuration.
 */

async function checkAll(): Promise<CheckRow[]> {
  const config = readConfig(process.env);
  const { postgres, neo4j, s3 } = config.stores;
  return [
    ...configWarnings(config).map((text) => ({ check: 'configuration', ...warning(text) })),
    // One store after the other: loading a driver would delay the responses of other stores, and distort the clock's difference.
    ...(postgres ? await checkPostgres(postgres) : []),
    ...(neo4j ? await checkNeo4j(neo4j) : []),
    ...(s3 ? await checkS3(s3) : []),
    ...(config.redis ? await checkRedis(config.redis) : []),
    ...(await checkMachine(config)),
  ];
}

const command = createServiceCommand(
  'doctor',
  'Checks what a start does not see: versions, privileges and limits.',
).action(async () => {
  const rows = await checkAll();
  const count = (result: CheckRow['result']) => rows.filter((row) => row.result === result).length;
  console.log(`${table(rows)}\n\n${count('failed')} failed, ${count('warning')} warnings`);
  process.exitCode = count('failed') > 0 ? 1 : 0;
});
await runCommand(command, 2);
// Closes the connections to the stores, also to those that do not respond.
process.exit();
