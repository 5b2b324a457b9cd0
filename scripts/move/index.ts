import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { pathsIn } from '../../db/support/data-directory.js';
import { type Config, ConfigError, readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import type { TokenKey } from '../../handlers/config/variables.js';
import { readTokenKeys } from '../../handlers/security/token-keys.js';
import { requireDatabase } from '../support/bare-stores.js';
import { runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { showProgress } from '../support/progress.js';
import { createServiceCommand } from '../support/service-command.js';
import { move, type Outcome } from './move.js';
import { openMoveStores } from './stores.js';

/** Moves to the stores in the file. Returns the exit code. */
async function moveTo(path: string): Promise<number> {
  const source = readConfig(process.env);
  const file = await readFile(path, 'utf8').catch(({ message }: Error) => {
    throw new CommandError(`--to: ${message}`);
  });
  const variables = parseEnv(file) as NodeJS.ProcessEnv;
  const target = readTarget(path, variables);
  exportAwsVariables(path, variables, source, target);
  requireDatabase(source.stores);
  const stores = await openMoveStores(source.stores, target.stores, createLogger(source, process.stderr));
  try {
    const outcome = await showProgress((progress) => move(stores, progress));
    console.log(formatOutcome(outcome, path));
    if (outcome.result === 'differs') return 1;
    const advice = await tokenKeyAdvice(source, target);
    if (advice) console.log(advice);
    return 0;
  } finally {
    await stores.close();
  }
}

function readTarget(path: string, variables: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(variables);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${path}: ${error.message}`) : error;
  }
}

/**
 * Copies the AWS variables of the target to the environment, from which the AWS SDK reads them.
 *
 * @throws ConfigError when the source uses S3 with other values
 */
function exportAwsVariables(path: string, variables: NodeJS.ProcessEnv, source: Config, target: Config): void {
  if (!target.stores.s3) return;
  for (const [name, value] of Object.entries(variables)) {
    if (!name.startsWith('AWS_')) continue;
    if (source.stores.s3 && process.env[name] !== value) {
      throw new ConfigError(
        `${path}: ${name}: source and target both use S3, so they need the same credentials and region`,
      );
    }
    process.env[name] = value;
  }
}

function formatOutcome({ result, differences, examples }: Outcome, path: string): string {
  if (result === 'already moved') return `Nothing to move: the stores in ${path} already contain everything.`;
  if (result === 'moved') return `Moved and compared. From now on, start the service with the variables in ${path}.`;
  const more = differences > examples.length ? ['…'] : [];
  return [
    `Copied, but source and target have ${differences} differences. If a service was running, stop it, empty the target, and move again.`,
    ...[...examples, ...more].map((line) => `  ${line}`),
  ].join('\n');
}

/** Returns advice if the target lacks a token key of the source, which would invalidate tokens. The advice contains no key. */
async function tokenKeyAdvice(source: Config, target: Config): Promise<string | undefined> {
  const keyFile = (config: Config) => pathsIn(config.stores.dataDir).tokenKeys;
  const readKeys = async (config: Config): Promise<readonly TokenKey[]> =>
    config.tokenKeys ?? (await readTokenKeys(keyFile(config)).catch(() => undefined)) ?? [];
  const targetKeys = new Set((await readKeys(target)).map(({ id, secret }) => `${id}:${secret}`));
  if ((await readKeys(source)).every(({ id, secret }) => targetKeys.has(`${id}:${secret}`))) return undefined;
  const keys = source.tokenKeys ? 'the current value of TOKEN_KEYS' : `the line in ${keyFile(source)}`;
  const instruction = target.tokenKeys
    ? `append a comma and ${keys} to TOKEN_KEYS in the new variables`
    : `put ${keys} into ${keyFile(target)}`;
  return `To keep users logged in, ${instruction}.`;
}

const command = createServiceCommand('move', 'Moves all data to other stores, while the service is stopped.')
  .requiredOption('--to <file>', 'the variables of the other stores, with lines of NAME=value')
  .action(async ({ to }: { to: string }) => {
    process.exitCode = await moveTo(to);
  });
await runCommand(command);
