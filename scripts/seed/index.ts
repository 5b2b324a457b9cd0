import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { findAccounts } from '../../db/accounts.js';
import { migrate } from '../../db/migrate.js';
import { onceAvailable, openBareStores } from '../../db/stores.js';
import { ConfigError, readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';
import { passwordProblems } from '../../handlers/policy/passwords.js';
import { hashPassword } from '../../handlers/security/password-hashing.js';
import { explain } from '../explain.js';
import { inPairs } from '../pairs.js';
import { openProgress } from '../progress.js';
import { type Population, problemsOf, seed } from './seed.js';

const USAGE = `npm run seed -- --accounts N [--posts N] [--likes N] [--friends N] [--private PERCENT]
                [--popular-post LIKES] [--popular-person FRIENDS] [--seed N] [--password PASSWORD]

Fills the stores that the environment names with made-up people, beside whatever is there. --likes is the number of all likes,
--friends that of each account. Everybody has the same password, which is made and printed unless it is given.`;

const WHOLE = /^\d{1,9}$/;

function readArguments(): { population: Population; password: string | undefined } {
  const number = { type: 'string', default: '0' } as const;
  const { values } = parseArgs({
    options: {
      accounts: number,
      posts: number,
      likes: number,
      friends: number,
      private: number,
      'popular-post': number,
      'popular-person': number,
      seed: { type: 'string', default: '1' },
      password: { type: 'string' },
    },
  });
  const { password, ...numbers } = values;
  for (const [name, value] of Object.entries(numbers)) {
    if (!WHOLE.test(value)) throw new ConfigError(`--${name}: "${value}" is not a whole number below 1000000000`);
  }
  const population = {
    accounts: Number(numbers.accounts),
    posts: Number(numbers.posts),
    likes: Number(numbers.likes),
    friends: Number(numbers.friends),
    privatePercent: Number(numbers.private),
    popularPost: Number(numbers['popular-post']),
    popularPerson: Number(numbers['popular-person']),
    seed: Number(numbers.seed),
  };
  if (population.accounts === 0) throw new ConfigError(USAGE);
  const problems = [...problemsOf(population), ...(password === undefined ? [] : passwordProblems(password, {}))];
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return { population, password };
}

const madePassword = () => `Seed!${inPairs(randomBytes(9).toString('hex'))}`;

async function main(): Promise<void> {
  const { population, password = madePassword() } = readArguments();
  const config = readConfig(process.env);
  const stores = await openBareStores(config.stores, createLogger(config.logLevel, process.stderr));
  const progress = openProgress();
  const start = performance.now();
  try {
    await onceAvailable(() => migrate(stores));
    const made = await seed(stores, population, await hashPassword(password), progress.show);
    progress.end();
    const [first] = await findAccounts(stores.db, made.accounts.slice(0, 1));
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`Made ${made.accounts.length} accounts and ${made.posts.length} posts in ${seconds} s.`);
    console.log(`One of them: ${first?.email}, password ${password}`);
  } finally {
    progress.end();
    await stores.close();
  }
}

await main().catch((error) => {
  console.error(explain(error));
  process.exitCode = 1;
});
