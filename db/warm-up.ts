import { findAccounts, findCredentials, findPictureOwner } from './accounts.js';
import { readPosts, readSlice } from './feed.js';
import type { Database } from './postgres/index.js';
import { findPostImageOwner, findPostOwners, findPosts, findPostsPublicOrOwn } from './posts.js';
import { findSessions, listSessions, touchSessions } from './sessions.js';

/**
 * Runs the most frequent statements of requests once, with ids and names that match nothing, so they change nothing. A
 * server that has just started thus loads its catalogs and the upper levels of its indexes before the first request needs them.
 */
export async function warmUpDatabase(db: Database): Promise<void> {
  const id = 0;
  const name = '';
  await findSessions(db, [name]);
  await touchSessions(db, [name]);
  await listSessions(db, id, name);
  await findAccounts(db, [id]);
  await findCredentials(db, { id });
  await findCredentials(db, { email: name });
  await findPictureOwner(db, name);
  await findPostsPublicOrOwn(db, [{ id, viewer: id }]);
  await findPosts(db, [id]);
  await findPostOwners(db, [id]);
  await findPostImageOwner(db, name);
  await readPosts(db, {}, 1);
  await readSlice(db, {});
  await readPosts(db, { author: id }, 1);
}
