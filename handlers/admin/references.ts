import { type AccountDetails, findAccountDetails } from '../../db/admin/accounts.js';
import { findPostRecord, type PostRecord, type RowReference } from '../../db/admin/posts.js';
import type { Database } from '../../db/postgres/index.js';
import { normalizeEmail } from '../policy/emails.js';
import { AdminInputError } from './action.js';

/* How the operator names accounts and posts, for example by the link to an image that a user has reported. */

/** The file name of an image, or a path or URL that ends with it, with or without a query and fragment. */
const IMAGE = /^(?:[^?#]*\/)?([0-9a-f]{32}\.[a-z]+)(?:[?#].*)?$/s;

/** Returns the id or the name of the image that a text consists of, if it is one of these. */
export function parseReference(text: string): RowReference | undefined {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return { id: Number(text) };
  const [, image] = IMAGE.exec(text) ?? [];
  return image === undefined ? undefined : { image };
}

/** Returns the account with this id, `@username`, email address or profile picture. @throws AdminInputError */
export async function findAccount(db: Database, account: string): Promise<AccountDetails> {
  const by = parseReference(account) ?? parseName(account);
  const details = await findAccountDetails(db, by);
  if (details) return details;
  const post = 'image' in by && (await findPostRecord(db, by));
  throw post ? new AdminInputError(`“${account}” is the image of post ${post.id}`) : noSuchAccount(account);
}

function parseName(account: string): { username: string } | { email: string } {
  if (account.startsWith('@')) return { username: account.slice(1) };
  if (account.includes('@')) return { email: normalizeEmail(account) };
  throw new AdminInputError(`“${account}” is not the id, @username, email address or picture of an account`);
}

export const noSuchAccount = (account: string) => new AdminInputError(`There is no account “${account}”`);

/** Returns the post with this id or image. @throws AdminInputError */
export async function findPost(db: Database, post: string): Promise<PostRecord> {
  const by = parseReference(post);
  if (!by) throw new AdminInputError(`“${post}” is not the id or image of a post`);
  const record = await findPostRecord(db, by);
  if (record) return record;
  const owner = 'image' in by && (await findAccountDetails(db, by));
  throw new AdminInputError(owner ? `“${post}” is the picture of account ${owner.id}` : `There is no post “${post}”`);
}
