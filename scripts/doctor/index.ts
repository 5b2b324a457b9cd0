import { type Config, readConfig } from '../../handlers/config/index.js';
import { configWarnings } from '../../handlers/config/warnings.js';
import { integerFrom, runCommand } from '../support/command.js';
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

/** @param processes the number of processes of the service; undefined if it is unknown */
async function checkAll(processes: number | undefined): Promise<CheckRow[]> {
  const config = readConfig(process.env);
  const { postgres, neo4j, s3 } = config.stores;
  const problems = processProblems(config, processes);
  return [
    ...configWarnings(config).map((text) => ({ check: 'configuration', ...warning(text) })),
    ...problems.map((text) => ({ check: 'processes', ...warning(text) })),
    // One store after the other: loading a driver would delay the responses of other stores, and distort the clock's difference.
    ...(postgres ? await checkPostgres(postgres, processes) : []),
    ...(neo4j ? await checkNeo4j(neo4j, processes) : []),
    ...(s3 ? await checkS3(s3) : []),
    ...(config.redis ? await checkRedis(config.redis) : []),
    ...(await checkMachine(config)),
  ];
}

/** Returns what several processes need. Servers are for several, unless the operator says that there is one. */
function processProblems({ stores, redis, shutdownDelaySeconds }: Config, processes?: number): string[] {
  if (!stores.postgres) return (processes ?? 1) > 1 ? ['the embedded database allows only one: set DATABASE_URL'] : [];
  if (processes === 1) return [];
  return [
    ...(shutdownDelaySeconds > 0
      ? []
      : ['SHUTDOWN_DELAY is 0: requests fail while a process restarts; set it to 5, if there are several']),
    ...(processes && !redis
      ? ['REDIS_URL is not set: each process counts rate limits and failed passwords alone']
      : []),
  ];
}

const command = createServiceCommand('doctor', 'Checks what a start does not see: versions, privileges and limits.')
  .option('--processes <n>', 'the number of processes, which share the connections of the stores', integerFrom(1))
  .action(async ({ processes }: { processes?: number }) => {
    const rows = await checkAll(processes);
    const count = (result: CheckRow['result']) => rows.filter((row) => row.result === result).length;
    console.log(`${table(rows)}\n\n${count('failed')} failed, ${count('warning')} warnings`);
    process.exitCode = count('failed') > 0 ? 1 : 0;
  });
await runCommand(command, 2);
// Closes the connections to the stores, also to those that do not respond.
process.exit();
