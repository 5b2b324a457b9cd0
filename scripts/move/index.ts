import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';
import { type Config, ConfigError, readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { parseTokenKeys, type TokenKey } from '../../handlers/config/variables.js';
import { explain } from '../explain.js';
import { openProgress } from '../progress.js';
import { move, type Outcome, openSides } from './move.js';

const USAGE = `npm run move -- --to FILE

Carries accounts, posts, graph and images from the stores that the environment names to those that FILE names, in lines of
NAME=value. Stop the service first. Ended half-way, it goes on when it is run again.`;

async function main(path: string): Promise<number> {
  const source = readConfig(process.env);
  const variables = parseEnv(await readFile(path, 'utf8')) as NodeJS.ProcessEnv;
  const target = readTarget(path, variables);
  lendCredentials(path, variables, source, target);
  const sides = await openSides(source.stores, target.stores, createLogger(source.logLevel, process.stderr));
  const progress = openProgress();
  try {
    const outcome = await move(sides, progress.show);
    progress.end();
    console.log(tell(outcome, path));
    if (outcome.result === 'differs') return 1;
    const advice = await adviseOnKeys(source, target);
    if (advice) console.log(advice);
    return 0;
  } finally {
    progress.end();
    await sides.close();
  }
}

function readTarget(path: string, variables: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(variables);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${path}: ${error.message}`) : error;
  }
}

/** The AWS SDK looks for its own variables in the environment, of which there is one. */
function lendCredentials(path: string, variables: NodeJS.ProcessEnv, source: Config, target: Config): void {
  if (!target.stores.s3) return;
  for (const [name, value] of Object.entries(variables)) {
    if (!name.startsWith('AWS_')) continue;
    if (source.stores.s3 && process.env[name] !== value) {
      throw new ConfigError(`${path}: ${name}: both sides are in S3, and need the same credentials and region`);
    }
    process.env[name] = value;
  }
}

function tell({ result, differences, examples }: Outcome, path: string): string {
  if (result === 'there') return `Nothing to move: everything is in the stores of ${path}.`;
  if (result === 'moved')
    return `Moved and compared: start the service with the variables of ${path}, and no longer with these.`;
  const more = differences > examples.length ? ['…'] : [];
  return [
    `Copied, but in ${differences} places not the same. If a service was running meanwhile, stop it, empty the target, and move again.`,
    ...[...examples, ...more].map((line) => `  ${line}`),
  ].join('\n');
}

/** What keeps people logged in, if it is not so already. No key is printed. */
async function adviseOnKeys(source: Config, target: Config): Promise<string | undefined> {
  const kept = (config: Config) => resolve(config.stores.dataDir, 'token-keys');
  const keysOf = async (config: Config): Promise<readonly TokenKey[]> =>
    config.tokenKeys ??
    (await readFile(kept(config), 'utf8').then(
      (keys) => parseTokenKeys(keys.trim()),
      () => [],
    ));
  const known = new Set((await keysOf(target)).map(({ id, secret }) => `${id}:${secret}`));
  if ((await keysOf(source)).every(({ id, secret }) => known.has(`${id}:${secret}`))) return undefined;
  const from = source.tokenKeys ? 'what TOKEN_KEYS is here' : `the line in ${kept(source)}`;
  const to = target.tokenKeys ? `append a comma and ${from} to TOKEN_KEYS there` : `put ${from} into ${kept(target)}`;
  return `To keep people logged in, ${to}.`;
}

try {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  if (values.to === undefined) throw new ConfigError(USAGE);
  process.exitCode = await main(values.to);
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}
