import { parseArgs } from 'node:util';
import { type Config, ConfigError, readConfig } from '../../handlers/config/index.js';
import { runCommand } from '../support/command.js';
import { table } from '../support/table.js';
import { type Check, failed, type Row, runChecks } from './checks.js';
import { checkUnknownVariables, configurationChecks } from './configuration.js';
import { machineChecks } from './machine.js';
import { checkNeo4j } from './neo4j.js';
import { checkPostgres } from './postgres.js';
import { checkRedis } from './redis.js';
import { checkS3 } from './s3.js';
import { serviceChecks } from './service.js';

/*
 * Checks a deployment: its configuration, stores and limits. It can run beside the service, because it only reads, except for
 * probes that leave no data. `npm run verify` checks the contents of the stores. Exits with 1 if a check fails, with 2 on wrong
 * usage.
 */

/** Runs checks that do not depend on each other. */
const runEach = async (checks: readonly Check[]): Promise<Row[]> =>
  (await Promise.all(checks.map((check) => runChecks([check])))).flat();

async function checkAll(): Promise<Row[]> {
  const unknownVariables: Check = ['unknown variables', () => checkUnknownVariables(process.env)];
  let config: Config;
  try {
    config = readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return runEach([['configuration', () => failed(error.message)], unknownVariables]);
  }
  const { stores, redis } = config;
  // Checks one store after the other: loading a driver would delay the responses of other stores and distort the comparison of
  // clocks.
  const postgres = stores.postgres && (await checkPostgres(stores.postgres, stores));
  const installation = postgres?.installation;
  return [
    ...(await runEach([...configurationChecks(config), unknownVariables])),
    ...(postgres?.rows ?? []),
    ...(stores.neo4j ? await checkNeo4j(stores.neo4j, installation) : []),
    ...(stores.s3 ? await checkS3(stores.s3, installation) : []),
    ...(redis ? await checkRedis(redis) : []),
    ...(await runEach([...machineChecks(config, installation), ...serviceChecks(config)])),
  ];
}

function summarize(rows: readonly Row[]): string {
  const count = (result: Row['result']) => rows.filter((row) => row.result === result).length;
  return `${count('failed')} failed, ${count('warning')} warnings. To check the contents of the stores: npm run verify`;
}

await runCommand(async () => {
  parseArgs({ options: {} });
  const rows = await checkAll();
  console.log(`${table(rows)}\n\n${summarize(rows)}`);
  process.exitCode = rows.some(({ result }) => result === 'failed') ? 1 : 0;
}, 2);
// Drivers may still wait for unresponsive stores.
process.exit();
