import { json } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import type { AccountDetails } from '../db/admin/accounts.js';
import { createOutbox } from '../db/outbox/index.js';
import { StoreUnavailableError } from '../db/support/errors.js';
import type { AdminRoutes } from '../handlers/control.js';
import { archivePath, writeArchiveFile } from './support/archive-file.js';
import { askYes } from './support/ask.js';
import { integerFrom, runCommand } from './support/command.js';
import { UsageError } from './support/command-error.js';
import { type PrepareWork, withResponse } from './support/control.js';
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
  .option('--yes', 'does not ask before content is deleted or hidden, or sessions end');

/** Prepares stores for an action. Neither migrates them nor starts background jobs. @throws StoresDisagreeError */
const prepare: PrepareWork = async (stores, log) => {
  const outbox = createOutbox(stores, silentLog);
  await requireSameInstallation(stores).catch((error) => {
    if (!(error instanceof StoreUnavailableError) || error.store === 'postgres') throw error;
    // Without this store, it is unknown whether the graph and the images belong to this PostgreSQL: the service delivers the change.
    outbox.deliver = async () => undefined;
  });
  return { admin: { ...stores, outbox, log } };
};

/** Runs an action whose response is JSON, and returns it. @throws the errors of `withResponse` */
const run = <Path extends keyof AdminRoutes>(
  path: Path,
  body: AdminRoutes[Path]['Body'],
): Promise<AdminRoutes[Path]['Reply']> =>
  withResponse(prepare, `/admin/${path}`, body, (response) => json(response) as Promise<AdminRoutes[Path]['Reply']>);

const isJson = () => command.opts<{ json?: boolean }>().json === true;

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Formats a value as JSON, in which all control and format characters are escaped: they could control the terminal. */
const jsonOf = (value: object) =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}]/gu, (character) => character.split('').map(escapeUnit).join(''));

/** Prints a result: as JSON if `--json` is given, otherwise as this text. */
const print = (result: object, text: string) => console.log(isJson() ? jsonOf(result) : text);

const cell = (value: unknown) => (value === null ? '-' : inOneLine(String(value)));

/** Formats an object as lines with the names of its fields and their values. */
function describe(fields: object): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`)
    .join('\n');
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

/** Asks on a terminal whether to continue. @throws UsageError without a terminal, unless `--yes` is given, or after a no */
async function confirm(question: string): Promise<void> {
  if (command.opts<{ yes?: boolean }>().yes) return;
  if (!process.stdin.isTTY) throw new UsageError(`${question} Without a terminal, confirm with --yes`);
  if (!(await askYes(question, { input: process.stdin, output: process.stderr })))
    throw new UsageError('Nothing was changed');
}

/** Asks about an account. The question shows which one it is. @throws UsageError as `confirm`, or if it does not exist */
async function confirmFor(account: string, question: (name: string) => string): Promise<void> {
  if (command.opts<{ yes?: boolean }>().yes) return;
  const { id, username, email } = await run('accounts/show', { account });
  await confirm(question(inOneLine(`@${username} (id ${id}, ${email})`)));
}

const parseId = (text: string): number => {
  const id = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new InvalidArgumentError('It must be an id.');
  return id;
};

/** Adds a command with the argument `account`. */
const forAccount = (parent: Command, name: string, description: string) =>
  parent.command(name).description(description).argument('<account>', 'its id, @username or email address');

const printFields = (result: object) => print(result, describe(result));

const accounts = command.command('accounts').description('Lists, shows and changes accounts.');

accounts
  .command('list')
  .description('Lists accounts by ascending id.')
  .option('--search <text>', 'a part of the username, email address or name')
  .option('--after <id>', 'continues after this id', parseId)
  .option('--limit <n>', 'the maximum number of accounts', integerFrom(1), DEFAULT_PAGE_SIZE)
  .action(async (page: { search?: string; after?: number; limit: number }) => {
    const found = await run('accounts/list', page);
    print(found, found.length === 0 ? 'No account was found.' : describeAccounts(found));
    const last = found.at(-1);
    if (last && found.length === page.limit) console.error(`There may be more: --after ${last.id}`);
  });

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
  .argument('[account]', 'its id, @username or email address')
  .option('--all', 'ends the sessions of all accounts, for example after a restore')
  .action(async (account: string | undefined, { all = false }: { all?: boolean }) => {
    if ((account === undefined) !== all) throw new UsageError('Name an account, or give --all');
    if (account === undefined) await confirm('End the sessions of all accounts?');
    else await confirmFor(account, (name) => `End all sessions of ${name}?`);
    const result = await run('accounts/end-sessions', account === undefined ? {} : { account });
    print(result, `Sessions ended: ${result.ended}.`);
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
    const path = archivePath(to, force);
    await withResponse(prepare, '/admin/accounts/export', { account }, (archive) => writeArchiveFile(archive, path));
    print({ file: path }, `${to} is complete.`);
  });

const posts = command.command('posts').description('Shows and deletes posts of any author.');

posts
  .command('show')
  .description('Shows a post.')
  .argument('<id>', 'the id of the post', parseId)
  .action(async (id: number) => printFields(await run('posts/show', { id })));

posts
  .command('delete')
  .description('Deletes a post with its image and likes.')
  .argument('<id>', 'the id of the post', parseId)
  .action(async (id: number) => {
    await confirm(`Delete post ${id}?`);
    const post = await run('posts/delete', { id });
    print(post, `Deleted post ${id} of account ${post.author_id}.`);
  });

await runCommand(command);
