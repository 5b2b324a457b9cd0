import { type Command, Option } from 'commander';
import { findAccounts } from '../../db/accounts.js';
import type { BareStores } from '../../db/stores/index.js';
import { migrate } from '../../db/stores/migrate.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { FIELD_MESSAGES, type FieldCode } from '../../handlers/error-codes.js';
import { passwordProblems } from '../../handlers/policy/passwords.js';
import { randomPassword } from '../../handlers/policy/random-password.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { withBareStores } from '../support/bare-stores.js';
import { integerFrom, runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { showProgress } from '../support/progress.js';
import { createServiceCommand } from '../support/service-command.js';
import { table } from '../support/table.js';
import { seedDemo } from './demo.js';
import { DEMO_PASSWORD } from './demo-data.js';
import { type Population, problemsOf } from './population.js';
import { requireNoAccounts } from './require-no-accounts.js';
import { seed } from './seed.js';

/** The limits of the schema `Password`. */
const PASSWORD_LENGTH = { min: 12, max: 128 };

/** Returns the code of each rule that a password for new accounts breaks. */
function newPasswordProblems(password: string): FieldCode[] {
  const { length } = [...password];
  const problems = passwordProblems(password, {});
  if (length < PASSWORD_LENGTH.min) problems.unshift('too_short');
  if (length > PASSWORD_LENGTH.max) problems.unshift('too_long');
  return problems;
}

async function addDemo(yes: boolean): Promise<void> {
  const config = readConfig(process.env);
  const log = createLogger(config, process.stderr);
  const { people, hasExampleIds } = await showProgress((progress) => seedDemo(config, log, yes, progress));
  const rows = people.map(({ id, name, email, posts }) => ({ id: String(id), name, email, posts: posts.join(', ') }));
  console.log(`${table(rows)}\n`);
  if (!hasExampleIds) console.log('These ids differ from those in the examples, because other data has used them.');
  console.log(
    `Log in as ${people[0]?.email} with the password ${DEMO_PASSWORD}. All of these accounts have this password.`,
  );
  console.log('It is public: do not use these accounts in production.');
}

async function addGenerated(stores: BareStores, population: Population, password: string, yes: boolean): Promise<void> {
  const start = performance.now();
  await retryUntilAvailable(() => migrate(stores));
  if (!yes) await requireNoAccounts(stores.db);
  const passwordHash = await hashPassword(password);
  const seeded = await showProgress((progress) => seed(stores, population, passwordHash, progress));
  const [first] = await findAccounts(stores.db, seeded.accounts.slice(0, 1));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`Created ${seeded.accounts.length} accounts and ${seeded.posts.length} posts in ${seconds} s.`);
  console.log(`Log in as ${first?.email} with the password ${password}. All of these accounts have this password.`);
}

interface SeedOptions {
  demo?: boolean;
  yes: boolean;
  accounts: number;
  posts: number;
  likes: number;
  friends: number;
  private: number;
  password?: string;
}

async function run(options: SeedOptions, command: Command): Promise<void> {
  const { demo, yes, password = randomPassword(), ...numbers } = options;
  if (demo) return addDemo(yes);
  if (numbers.accounts === 0) command.error('error: expected --demo or --accounts');
  const population = { ...numbers, privatePercent: numbers.private };
  const passwordProblems = newPasswordProblems(password).map((code) => `--password ${FIELD_MESSAGES[code]}`);
  const problems = [...problemsOf(population), ...passwordProblems];
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  await withBareStores((stores) => addGenerated(stores, population, password, yes));
}

const command = createServiceCommand('seed', 'Adds accounts, posts and relations, for demos and tests.')
  .option('--accounts <n>', 'the number of generated accounts', integerFrom(0), 0)
  .option('--posts <n>', 'the number of their posts', integerFrom(0), 0)
  .option('--likes <n>', 'the total number of likes', integerFrom(0), 0)
  .option('--friends <n>', 'the number of friends of each account', integerFrom(0), 0)
  .option('--private <percent>', 'how many of the accounts are private', integerFrom(0), 0)
  .option('--password <password>', 'the password of all generated accounts (default: a random one, which is printed)')
  .option('--yes', 'adds to a database that has accounts', false)
  .addOption(
    new Option('--demo', 'adds the few people and posts of the examples in openapi.yaml').conflicts([
      ...['accounts', 'posts', 'likes', 'friends', 'private', 'password'],
    ]),
  )
  .action(run);
await runCommand(command);
