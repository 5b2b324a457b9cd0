import { userInfo } from 'node:os';
import { json } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ACCOUNT_ORDERS, type AccountDetails } from '../db/admin/accounts.js';
import type { PostDetails } from '../db/admin/posts.js';
import { createOutbox } from '../db/outbox/index.js';
import type { OperatorLogRow } from '../db/schema.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import { noopObserver } from '../db/support/observer.js';
import { createWriters } from '../db/writers.js';
import type { AdminRoutes } from '../handlers/control.js';
import { askYes } from './support/ask.js';
import { integerFrom, runCommand } from './support/command.js';
import { UsageError } from './support/command-error.js';
import { type PrepareWork, withResponse } from './support/control.js';
import { outputPath, writeOutput } from './support/output-file.js';
import { createServiceCommand } from './support/service-command.js';
import { silentLog } from './support/silent-log.js';
import { inOneLine, table } from './support/table.js';
import { requireSameInstallation } from './verify/verify.js';

const DEFAULT_PAGE_SIZE = 50;

const command = createServiceCommand(
  'admin',
  'Acts on accounts and posts as the operator, also while the service runs.',
)
  .configureHelp({ showGlobalOptions: true })
  .option('--json', 'prints the result as JSON')
  .option('--yes', 'does not ask before content is deleted or hidden, or sessions end')
  .option('--reason <text>', 'why a change is made, for the log')
  .option('--operator <name>', 'who makes it (default: SUDO_USER, or the user)');

interface Options {
  json?: boolean;
  yes?: boolean;
  reason?: string;
  operator?: string;
}

/** Prepares stores for an action. Neither migrates them nor starts background jobs. @throws StoresDisagreeError */
const prepare: PrepareWork = async (stores, log) => {
  const outbox = createOutbox(stores, silentLog);
  await requireSameInstallation(stores).catch((error) => {
    if (!(error instanceof StoreUnavailableError) || error.store === 'postgres') throw error;
    // Without this store, it is unknown whether the graph and the images belong to this PostgreSQL: the service delivers the change.
    outbox.deliver = async () => undefined;
  });
  return { admin: { ...stores, outbox, write: createWriters(stores, noopObserver), log } };
};

/** Returns what the log contains about each change. */
function signature() {
  const { operator = process.env.SUDO_USER || userName(), reason } = command.opts<Options>();
  return { operator, reason };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user may have no name.
    return `user ${process.getuid?.()}`;
  }
}

/** Sends a request, and passes the body of its response to `use`. @throws the errors of `withResponse` */
const send = <Path extends keyof AdminRoutes, Result>(
  path: Path,
  body: AdminRoutes[Path]['Body'],
  use: Parameters<typeof withResponse<Result>>[3],
): Promise<Result> => withResponse(prepare, `/admin/${path}`, { ...body, ...signature() }, use);

/** Runs an action whose response is JSON, and returns it. @throws the errors of `withResponse` */
const run = <Path extends keyof AdminRoutes>(
  path: Path,
  body: AdminRoutes[Path]['Body'],
): Promise<AdminRoutes[Path]['Reply']> =>
  send(path, body, (response) => json(response) as Promise<AdminRoutes[Path]['Reply']>);

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Formats a value as JSON, in which all control and format characters are escaped: they could control the terminal. */
const jsonOf = (value: object) =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}]/gu, (character) => character.split('').map(escapeUnit).join(''));

/** Prints a result: as JSON if `--json` is given, otherwise as this text. */
const print = (result: object, text: string) => console.log(command.opts<Options>().json ? jsonOf(result) : text);

const cell = (value: unknown) => (value === null ? '-' : inOneLine(String(value)));

/** Formats an object as lines with the names of its fields and their values. */
function describe(fields: object): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join('\n');
}

/** Prints a page of a list, and the option that continues it. */
function printPage<Row extends { id: number }>(
  rows: readonly Row[],
  { limit }: { limit: number },
  describeRows: (rows: readonly Row[]) => string,
  option = '--after',
): void {
  print(rows, rows.length === 0 ? 'Nothing was found.' : describeRows(rows));
  const last = rows.at(-1);
  if (last && rows.length === limit) console.error(`There may be more: ${option} ${last.id}`);
}

const describeAccounts = (accounts: readonly AccountDetails[]) =>
  table(
    accounts.map(({ id, username, email, private: isPrivate, created_at, disabled_at, ...rest }) => ({
      id: cell(id),
      username,
      email,
      private: isPrivate ? 'yes' : 'no',
      created: cell(created_at),
      disabled: cell(disabled_at),
      posts: cell(rest.posts),
      'stored bytes': cell(rest.stored_bytes),
      sessions: cell(rest.sessions),
      'last use': cell(rest.last_used_at),
    })),
  );

const describePosts = (posts: readonly PostDetails[]) =>
  table(
    posts.map(({ id, title, image, image_bytes, likes, created_at }) => ({
      id: cell(id),
      created: cell(created_at),
      likes: cell(likes),
      image: cell(image),
      'image bytes': cell(image_bytes),
      title,
    })),
  );

const describeLog = (rows: readonly OperatorLogRow[]) =>
  table(
    rows.map(({ id, created_at, operator, command, account_id, post_id, reason }) => ({
      id: cell(id),
      time: cell(created_at),
      operator,
      command,
      account: cell(account_id),
      post: cell(post_id),
      reason: cell(reason),
    })),
  );

/** Asks on a terminal whether to continue. @throws UsageError without a terminal, unless `--yes` is given, or after a no */
async function confirm(question: string): Promise<void> {
  if (command.opts<Options>().yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`${question} Without a terminal, confirm with --yes`);
  if (!(await askYes(question, { input: process.stdin, output: process.stderr })))
    throw new UsageError('Nothing was changed');
}

/** Asks about an account. The question shows which one it is. @throws UsageError as `confirm`, or if it does not exist */
async function confirmFor(account: string, question: (name: string, posts: number) => string): Promise<void> {
  if (command.opts<Options>().yes) return;
  const { id, username, email, posts } = await run('accounts/show', { account });
  await confirm(inOneLine(question(`@${username} (id ${id}, ${email})`, posts)));
}

/** Asks about posts. The question shows their authors. @throws UsageError as `confirm`, or if one of them does not exist */
async function confirmForPosts(posts: string[]): Promise<void> {
  if (command.opts<Options>().yes) return;
  const names = (await run('posts/show', { posts })).map(
    ({ id, title, author_username, author_id }) => `${id} (“${title}”) of @${author_username} (id ${author_id})`,
  );
  await confirm(inOneLine(`Delete ${names.length === 1 ? 'post' : `${names.length} posts:`} ${names.join(', ')}?`));
}

const parseId = (text: string): number => {
  const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidArgumentError('It must be an id.');
  return id;
};

const ACCOUNT = 'its id, @username, email address, or picture (file name, path or URL)';
const POST = 'its id, or image (file name, path or URL)';

/** Adds a command with the argument `account`. */
const forAccount = (parent: Command, name: string, description: string) =>
  parent.command(name).description(description).argument('<account>', ACCOUNT);

/** Adds the option for the number of rows. */
const withLimit = (list: Command) =>
  list.option('--limit <n>', 'the maximum number of rows', integerFrom(1), DEFAULT_PAGE_SIZE);

const printFields = (result: object) => print(result, describe(result));

const accounts = command.command('accounts').description('Lists, shows and changes accounts.');

withLimit(accounts.command('list'))
  .description('Lists accounts.')
  .option('--search <text>', 'a part of the username, email address or name')
  .option('--disabled', 'only disabled accounts')
  .addOption(new Option('--sort <order>', 'ascending by id, or descending').choices(Object.keys(ACCOUNT_ORDERS)))
  .addOption(new Option('--newest', 'the same as --sort newest').implies({ sort: 'newest' }))
  .option('--after <id>', 'continues after this account', parseId)
  .action(async ({ sort, newest: _, ...page }) =>
    printPage(await run('accounts/list', { ...page, order: sort }), page, describeAccounts),
  );

forAccount(accounts, 'show', 'Shows an account.').action(async (account: string) =>
  printFields(await run('accounts/show', { account })),
);

accounts
  .command('create')
  .description('Creates an account, also while registration is closed, and prints its random password.')
  .requiredOption('--name <name>', 'the name to display')
  .requiredOption('--username <username>', 'the unique username')
  .requiredOption('--email <address>', 'the email address to log in with')
  .action(async (fields: { name: string; username: string; email: string }) =>
    printFields(await run('accounts/create', fields)),
  );

forAccount(accounts, 'reset-password', 'Sets and prints a random password, and ends all sessions.').action(
  async (account: string) => {
    await confirmFor(account, (name) => `Replace the password of ${name} and end all sessions?`);
    printFields(await run('accounts/reset-password', { account }));
  },
);

accounts
  .command('end-sessions')
  .description('Ends the sessions of an account, or of all accounts.')
  .argument('[account]', ACCOUNT)
  .option('--all', 'ends the sessions of all accounts, for example after a restore')
  .action(async (account: string | undefined, { all = false }: { all?: boolean }) => {
    if ((account === undefined) !== all) throw new UsageError('Name an account, or give --all');
    if (account === undefined) await confirm('End the sessions of all accounts?');
    else await confirmFor(account, (name) => `End all sessions of ${name}?`);
    const result = await run('accounts/end-sessions', account === undefined ? {} : { account });
    print(result, `Sessions ended: ${result.ended}.`);
  });

forAccount(accounts, 'set-email', 'Sets the email address to log in with, and ends all sessions.')
  .argument('<address>', 'the new email address')
  .action(async (account: string, email: string) => {
    await confirmFor(account, (name) => `Replace the email address of ${name} by ${email} and end all sessions?`);
    printFields(await run('accounts/set-email', { account, email }));
  });

forAccount(accounts, 'remove-picture', 'Removes the profile picture of an account.').action(async (account: string) => {
  await confirmFor(account, (name) => `Remove the picture of ${name}?`);
  printFields(await run('accounts/remove-picture', { account }));
});

forAccount(
  accounts,
  'disable',
  'Hides an account with all its content, ends its sessions and refuses its logins.',
).action(async (account: string) => {
  await confirmFor(account, (name) => `Hide the account ${name} with all its content, and end all sessions?`);
  printFields(await run('accounts/disable', { account }));
});

forAccount(accounts, 'enable', 'Shows a disabled account and its content again, and allows its logins.').action(
  async (account: string) => printFields(await run('accounts/enable', { account })),
);

forAccount(accounts, 'delete', 'Deletes an account with its posts, images, likes and friendships.').action(
  async (account: string) => {
    await confirmFor(account, (name) => `Delete the account ${name} with all its content?`);
    const deleted = await run('accounts/delete', { account });
    print(deleted, `Deleted account ${deleted.id} (@${inOneLine(deleted.username)}).`);
  },
);

forAccount(accounts, 'export', 'Writes all data and images of an account to a tar archive.')
  .requiredOption('--to <file>', 'the file to write')
  .option('--force', 'replaces an existing file')
  .action(async (account: string, { to, force = false }: { to: string; force?: boolean }) => {
    const path = outputPath('--to', to, force);
    await send('accounts/export', { account }, (archive) => writeOutput(archive, path));
    print({ file: path }, `${to} is complete.`);
  });

const posts = command.command('posts').description('Lists, shows and deletes posts of any author.');

withLimit(posts.command('list'))
  .description('Lists the posts of an account, the newest first.')
  .requiredOption('--author <account>', ACCOUNT)
  .option('--after <id>', 'continues after this post', parseId)
  .action(async (page) => printPage(await run('posts/list', page), page, describePosts));

posts
  .command('show')
  .description('Shows a post.')
  .argument('<post>', POST)
  .option('--image-to <file>', 'also writes its image to this file')
  .option('--force', 'replaces an existing file')
  .action(async (post: string, { imageTo, force = false }: { imageTo?: string; force?: boolean }) => {
    const path = imageTo === undefined ? undefined : outputPath('--image-to', imageTo, force);
    const [details] = await run('posts/show', { posts: [post] });
    if (path !== undefined) await send('posts/image', { post }, (image) => writeOutput(image, path));
    printFields({ ...details, ...(path !== undefined && { image_file: path }) });
  });

posts
  .command('delete')
  .description('Deletes posts with their images and likes.')
  .argument('[posts...]', POST)
  .option('--author <account>', `all posts of an account: ${ACCOUNT}`)
  .action(async (references: string[], { author }: { author?: string }) => {
    if ((author === undefined) === (references.length === 0)) throw new UsageError('Name posts, or give --author');
    if (author === undefined) await confirmForPosts(references);
    else await confirmFor(author, (name, count) => `Delete all ${count} posts of ${name}?`);
    const { deleted } = await (author === undefined
      ? run('posts/delete', { posts: references })
      : run('posts/delete-all', { author }));
    print({ deleted }, `Posts deleted: ${deleted}.`);
  });

withLimit(command.command('log'))
  .description('Shows what operators did, the newest first.')
  .option('--account <account>', `only with this account, which may be deleted: ${ACCOUNT}`)
  .option('--before <id>', 'continues before this row', parseId)
  .action(async (page) => printPage(await run('log/list', page), page, describeLog, '--before'));

await runCommand(command);
