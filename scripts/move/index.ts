import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { pathsIn } from '../../db/support/data-directory.js';
import { type Config, ConfigError, readConfig } from '../../handlers/config/index.js';
import { loadSecretFiles } from '../../handlers/config/secret-files.js';
import type { TokenKey } from '../../handlers/config/variables.js';
import { misspelledVariables } from '../../handlers/config/warnings.js';
import { readTokenKeys } from '../../handlers/security/token-keys.js';
import { requireDatabase } from '../support/bare-stores.js';
import { quote, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { showProgress } from '../support/progress.js';
import { createServiceCommand } from '../support/service-command.js';
import { table } from '../support/table.js';
import { areEqual, move } from './move.js';
import { locate, openMoveStores } from './stores.js';

/** The variables that select stores. */
const STORE_VARIABLES = ['DATA_DIR', 'DATABASE_URL', 'NEO4J_URI', 'S3_BUCKET'];

/** Moves to the stores in the file. */
async function moveTo(path: string): Promise<void> {
  const source = readConfig(process.env);
  const variables = parseEnv(await readFile(path, 'utf8')) as NodeJS.ProcessEnv;
  loadSecretFiles(variables);
  const misspelled = misspelledVariables(variables);
  if (misspelled.length > 0) throw new CommandError(`${path}: ${misspelled.join(' ')}`);
  // Without any of them, the target would be the default of DATA_DIR.
  if (!STORE_VARIABLES.some((name) => variables[name]))
    throw new CommandError(`${path} sets none of the variables ${STORE_VARIABLES.join(', ')}`);
  const target = readTarget(path, variables);
  exportAwsVariables(path, variables, source, target);
  requireDatabase(source.stores);
  const [from, to] = [locate(source.stores), locate(target.stores)];
  const locations = (['postgres', 'graph', 'images'] as const).map((store) => ({
    store,
    from: from[store],
    to: from[store] === to[store] ? 'stays' : to[store],
  }));
  if (locations.every((location) => location.to === 'stays'))
    throw new CommandError(`Nothing to move: the stores in ${path} are the current ones`);
  console.log(`${table(locations)}\n`);

  const stores = await openMoveStores(source.stores, target.stores);
  try {
    const counts = await showProgress((progress) => move(stores, progress));
    const rows = Object.entries(counts.source).map(([what, number]) => ({
      copied: what,
      from: String(number),
      to: String(counts.target[what]),
    }));
    console.log(`${table(rows)}\n`);
    if (!areEqual(counts))
      throw new CommandError(
        'The numbers differ. If a service was running, stop it. Empty the target, and move again.',
      );
    console.log(`Moved and compared. From now on, start the service with the variables in ${path}.`);
    const advice = await tokenKeyAdvice(path, variables, source, target);
    if (advice) console.log(advice);
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

/**
 * Returns advice if the target lacks a token key of the source, which would invalidate tokens: a line to copy, if the keys of the
 * source are in a file. The advice contains no key.
 */
async function tokenKeyAdvice(
  path: string,
  variables: NodeJS.ProcessEnv,
  source: Config,
  target: Config,
): Promise<string | undefined> {
  const fileOf = (environment: NodeJS.ProcessEnv, { tokenKeys, stores }: Config) =>
    environment.TOKEN_KEYS_FILE || (tokenKeys ? undefined : pathsIn(stores.dataDir).tokenKeys);
  const [from, to] = [fileOf(process.env, source), fileOf(variables, target)];
  const readKeys = async ({ tokenKeys }: Config, file: string | undefined): Promise<readonly TokenKey[]> =>
    tokenKeys ?? (await readTokenKeys(file ?? '').catch(() => undefined)) ?? [];
  const [keys, targetKeys] = [await readKeys(source, from), await readKeys(target, to)];
  const known = new Set(targetKeys.map(({ id, secret }) => `${id}:${secret}`));
  if (keys.every(({ id, secret }) => known.has(`${id}:${secret}`))) return undefined;
  const command = from === undefined ? undefined : await appendKeys(from, to, path);
  if (command) return `To keep users logged in, add their token keys before you start the service:\n\n  ${command}\n`;
  return `To keep users logged in, append a comma and the current value of TOKEN_KEYS to ${to ?? `TOKEN_KEYS in ${path}`}.`;
}

/** Returns a shell command that appends the keys in the file `from` to the file `to`, or else to `TOKEN_KEYS` in the variables. */
async function appendKeys(from: string, to: string | undefined, variables: string): Promise<string> {
  if (to === undefined)
    return `sed -i "s|^ *TOKEN_KEYS=.*[[:alnum:]+/=_-]|&,$(paste -sd, ${quote(from)})|" ${quote(variables)}`;
  const content = await readFile(to, 'utf8').catch(() => undefined);
  if (content === undefined) return `cp -p ${quote(from)} ${quote(to)}`;
  return `${content.endsWith('\n') ? '' : `echo >> ${quote(to)}; `}cat ${quote(from)} >> ${quote(to)}`;
}

const command = createServiceCommand('move', 'Moves all data to other stores, while the service is stopped.')
  .requiredOption('--to <file>', 'the variables of the other stores, with lines of NAME=value')
  .action(async ({ to }: { to: string }) => {
    await moveTo(to);
  });
await runCommand(command);
