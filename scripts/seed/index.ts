import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { findAccounts } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import type { BareStores } from '../../db/stores.js';
import { retryUntilAvailable } from '../../db/support/retry.js';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { FIELD_MESSAGES, type FieldCode } from '../../handlers/error-codes.js';
import { passwordProblems } from '../../handlers/policy/passwords.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { withBareStores } from '../support/bare-stores.js';
import { runCommand } from '../support/command.js';
import { CommandError } from '../support/command-error.js';
import { insertDashes } from '../support/insert-dashes.js';
import { showProgress } from '../support/progress.js';
import { table } from '../support/table.js';
import { seedDemo } from './demo.js';
import { DEMO_PASSWORD } from './demo-data.js';
import { type Population, problemsOf } from './population.js';
import { seed } from './seed.js';

const USAGE = `npm run seed -- --demo
npm run seed -- --accounts N [--posts N] [--likes N] [--friends N] [--private PERCENT]
                [--popular-post LIKES] [--popular-person FRIENDS] [--seed N] [--password PASSWORD]

Adds accounts, posts and relations to the stores that the environment variables select. --demo adds the few people and posts of
the examples in openapi.yaml. --accounts and the other options add generated ones. --likes is the total number of likes,
--friends the number of friends of each account. --popular-post gives the newest post at least this number of likes, and
--popular-person the first account at least this number of friends. --seed selects the random data. All generated accounts get
the same password: the given one, or a random one that is printed.`;

function readArguments(): { population: Population; password: string | undefined } | 'demo' {
  const numberOption = { type: 'string', default: '0' } as const;
  const { values } = parseArgs({
    options: {
      demo: { type: 'boolean', default: false },
      accounts: numberOption,
      posts: numberOption,
      likes: numberOption,
      friends: numberOption,
      private: numberOption,
      'popular-post': numberOption,
      'popular-person': numberOption,
      seed: { type: 'string', default: '1' },
      password: { type: 'string' },
    },
  });
  const { demo, password, ...numbers } = values;
  const readNumber = (name: keyof typeof numbers) => {
    const value = numbers[name];
    if (!/^\d{1,9}$/.test(value)) throw new CommandError(`--${name}: "${value}" is not an integer from 0 to 999999999`);
    return Number(value);
  };
  const population = {
    accounts: readNumber('accounts'),
    posts: readNumber('posts'),
    likes: readNumber('likes'),
    friends: readNumber('friends'),
    privatePercent: readNumber('private'),
    popularPostLikes: readNumber('popular-post'),
    popularPersonFriends: readNumber('popular-person'),
    seed: readNumber('seed'),
  };
  if (demo && process.argv.length > 3) throw new CommandError('--demo takes no other options');
  if (demo) return 'demo';
  if (population.accounts === 0) throw new CommandError(USAGE);
  const passwordCodes = password === undefined ? [] : newPasswordProblems(password);
  const problems = [...problemsOf(population), ...passwordCodes.map((code) => `--password ${FIELD_MESSAGES[code]}`)];
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  return { population, password };
}

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

const generatePassword = () => `Seed!${insertDashes(randomBytes(9).toString('hex'))}`;

async function addDemo(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLogger(config, process.stderr);
  const { people, hasExampleIds } = await showProgress((progress) => seedDemo(config, log, progress));
  const rows = people.map(({ id, name, email, posts }) => ({ id: String(id), name, email, posts: posts.join(', ') }));
  console.log(`${table(rows)}\n`);
  if (!hasExampleIds) console.log('These ids differ from those in the examples, because other data has used them.');
  console.log(
    `Log in as ${people[0]?.email} with the password ${DEMO_PASSWORD}. All of these accounts have this password.`,
  );
  console.log('It is public: do not use these accounts in production.');
}

async function addGenerated(stores: BareStores, population: Population, password: string): Promise<void> {
  const start = performance.now();
  await retryUntilAvailable(() => migrate(stores));
  const passwordHash = await hashPassword(password);
  const seeded = await showProgress((progress) => seed(stores, population, passwordHash, progress));
  const [first] = await findAccounts(stores.db, seeded.accounts.slice(0, 1));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`Created ${seeded.accounts.length} accounts and ${seeded.posts.length} posts in ${seconds} s.`);
  console.log(`Log in as ${first?.email} with the password ${password}. All of these accounts have this password.`);
}

await runCommand(async () => {
  const wanted = readArguments();
  if (wanted === 'demo') return addDemo();
  const { population, password = generatePassword() } = wanted;
  await withBareStores((stores) => addGenerated(stores, population, password));
});
