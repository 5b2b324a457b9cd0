import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { findAccounts } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import { openBareStores, retryUntilAvailable } from '../../db/stores.js';
import { ConfigError, readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { passwordProblems } from '../../handlers/policy/passwords.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { explain } from '../explain.js';
import { insertDashes } from '../insert-dashes.js';
import { createProgressDisplay } from '../progress.js';
import { type Population, problemsOf, seed } from './seed.js';

const USAGE = `npm run seed -- --accounts N [--posts N] [--likes N] [--friends N] [--private PERCENT]
                [--popular-post LIKES] [--popular-person FRIENDS] [--seed N] [--password PASSWORD]

Adds generated accounts, posts and relations to the stores in the environment variables. --likes is the total number of likes
and --friends the number of friends of each account, to which --popular-post and --popular-person add more. --seed selects the
random data. All generated accounts get the same password: the given one, or a random one that is printed.`;

const WHOLE_NUMBER = /^\d{1,9}$/;

function readArguments(): { population: Population; password: string | undefined } {
  const numberOption = { type: 'string', default: '0' } as const;
  const { values } = parseArgs({
    options: {
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
  const { password, ...numbers } = values;
  for (const [name, value] of Object.entries(numbers)) {
    if (!WHOLE_NUMBER.test(value)) throw new ConfigError(`--${name}: "${value}" is not an integer from 0 to 999999999`);
  }
  const population = {
    accounts: Number(numbers.accounts),
    posts: Number(numbers.posts),
    likes: Number(numbers.likes),
    friends: Number(numbers.friends),
    privatePercent: Number(numbers.private),
    popularPostLikes: Number(numbers['popular-post']),
    popularPersonFriends: Number(numbers['popular-person']),
    seed: Number(numbers.seed),
  };
  if (population.accounts === 0) throw new ConfigError(USAGE);
  const problems = [...problemsOf(population), ...(password === undefined ? [] : passwordProblems(password, {}))];
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return { population, password };
}

const generatePassword = () => `Seed!${insertDashes(randomBytes(9).toString('hex'))}`;

async function main(): Promise<void> {
  const { population, password = generatePassword() } = readArguments();
  const config = readConfig(process.env);
  const stores = await openBareStores(config.stores, createLogger(config.logLevel, process.stderr));
  const progress = createProgressDisplay();
  const start = performance.now();
  try {
    await retryUntilAvailable(() => migrate(stores));
    const seeded = await seed(stores, population, await hashPassword(password), progress.show);
    progress.end();
    const [first] = await findAccounts(stores.db, seeded.accounts.slice(0, 1));
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`Created ${seeded.accounts.length} accounts and ${seeded.posts.length} posts in ${seconds} s.`);
    console.log(`Example account: ${first?.email}, password ${password}`);
  } finally {
    progress.end();
    await stores.close();
  }
}

await main().catch((error) => {
  console.error(explain(error));
  process.exitCode = 1;
});
