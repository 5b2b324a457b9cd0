import { buffer } from 'node:stream/consumers';
import { type ArchiveEntry, writeArchive } from '../backup/archive.js';
import type { SocialGraph } from '../graph/index.js';
import type { ImageStore } from '../images/index.js';
import type { Database } from '../postgres/index.js';
import { findAccountDetails } from './accounts.js';

interface ExportedStores {
  db: Database;
  graph: Pick<SocialGraph, 'bulk'>;
  images: Pick<ImageStore, 'get'>;
}

/** The number of posts in one file of the archive. Limits a file to about 40 MB. */
const POSTS_PER_FILE = 1000;

/** The account was deleted during its export, so the archive is incomplete. */
export class AccountDeletedError extends Error {
  override readonly name = 'AccountDeletedError';
  readonly code = 'account_deleted';

  constructor(id: number) {
    super(`Account ${id} was deleted during the export`);
  }
}

/**
 * Creates a tar archive with everything that is stored about an account, except its password hash. Yields its bytes. The last
 * file is a manifest, as in a backup.
 *
 * @throws AccountDeletedError
 * @throws StoreUnavailableError
 */
export const exportAccount = (stores: ExportedStores, id: number): AsyncGenerator<Uint8Array> =>
  writeArchive(readEntries(stores, id));

async function* readEntries({ db, graph, images }: ExportedStores, id: number): AsyncGenerator<ArchiveEntry> {
  const readAccount = async () => {
    const account = await findAccountDetails(db, { id });
    if (!account) throw new AccountDeletedError(id);
    return account;
  };
  const account = await readAccount();
  yield json('account.json', account);
  const sessions = db
    .selectFrom('sessions')
    .select(['device_name', 'created_at', 'last_used_at', 'expires_at'])
    .where('account_id', '=', id)
    .orderBy('created_at');
  yield json('sessions.json', await sessions.execute());

  const { friendships, requests, likes } = await graph.bulk.edgesOf([id]);
  const friends = friendships.filter(({ person }) => person === id).map(({ friend }) => friend);
  const received = requests.filter(({ to }) => to === id).map(({ from }) => from);
  const sent = requests.filter(({ from }) => from === id).map(({ to }) => to);
  yield json('friends.json', await describePeople(db, friends));
  yield json('friend-requests.json', {
    received: await describePeople(db, received),
    sent: await describePeople(db, sent),
  });
  yield json(
    'likes.json',
    likes.map(({ post }) => post).sort((a, b) => a - b),
  );

  const names = account.picture ? [account.picture] : [];
  let after = 0;
  for (let file = 1; ; file += 1) {
    const posts = await db
      .selectFrom('posts')
      .select(['id', 'title', 'text', 'image', 'created_at'])
      .where('author_id', '=', id)
      .where('id', '>', after)
      .orderBy('id')
      .limit(POSTS_PER_FILE)
      .execute();
    if (file === 1 || posts.length > 0) yield json(`posts-${file}.json`, posts);
    names.push(...posts.flatMap(({ image }) => image ?? []));
    after = posts.at(-1)?.id ?? 0;
    if (posts.length < POSTS_PER_FILE) break;
  }
  for (const name of names) {
    const image = await images.get(name);
    // Otherwise it has been replaced or deleted since.
    if (image) yield { path: `images/${name}`, source: await buffer(image.stream) };
  }
  await readAccount();
}

const json = (path: string, value: unknown): ArchiveEntry => ({
  path,
  source: Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`),
});

/** Returns the ids of accounts with their usernames. */
const describePeople = (db: Database, ids: readonly number[]) =>
  db
    .selectFrom('accounts')
    .select(['id', 'username'])
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .orderBy('id')
    .execute();
