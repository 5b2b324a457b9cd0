import { sql } from 'kysely';
import { usernameKey } from '../../db/accounts.js';
import type { Database } from '../../db/postgres/index.js';
import type { TableWithIds } from '../../db/postgres/sequences.js';
import type { Progress } from '../support/progress.js';
import type { Population } from './population.js';
import { createRandom, type Random } from './random.js';
import { fullName, text, title } from './words.js';

const ROWS_PER_STATEMENT = 2000;

/** The creation times of posts are spread over the last 90 days. */
const POST_AGE_RANGE_MS = 90 * 24 * 60 * 60 * 1000;

/** Inserts the accounts, and returns their ids in ascending order. */
export async function addAccounts(
  db: Database,
  { accounts, privatePercent }: Population,
  passwordHash: string,
  progress: Progress,
): Promise<number[]> {
  const random = createRandom(3);
  return insertInBatches('accounts', accounts, progress, async (start, count) => {
    const ids = await reserveIds(db, 'accounts', count);
    const newAccounts = ids.map((id, index) => newAccount(random, id, start + index > 0 ? privatePercent : 0));
    await sql`
      insert into accounts (id, name, username, username_key, email, password_hash, private)
      select id, name, username, username_key, email, ${passwordHash}, private
      from jsonb_populate_recordset(null::accounts, ${JSON.stringify(newAccounts)}::jsonb)`.execute(db);
    return ids;
  });
}

/** Generates an account whose username contains the id, so that it is unique. */
function newAccount(random: Random, id: number, privatePercent: number) {
  const name = fullName(random);
  const username = `${name.toLowerCase().replace(' ', '-')}-${id}`;
  return {
    id,
    name,
    username,
    username_key: usernameKey(username),
    email: `${username}@people.example`,
    private: random(100) < privatePercent,
  };
}

/** Inserts the posts, and returns their ids, oldest post first. */
export async function addPosts(
  db: Database,
  { posts }: Population,
  authors: readonly number[],
  progress: Progress,
): Promise<number[]> {
  const random = createRandom(4);
  const now = Date.now();
  return insertInBatches('posts', posts, progress, async (start, count) => {
    const ids = await reserveIds(db, 'posts', count);
    const newPosts = ids.map((id, index) => {
      const newerPosts = posts - 1 - (start + index);
      return {
        id,
        author_id: authors[random(authors.length)],
        title: title(random),
        text: text(random),
        created_at: new Date(now - Math.floor((POST_AGE_RANGE_MS / posts) * newerPosts)).toISOString(),
      };
    });
    await sql`
      insert into posts (id, author_id, title, text, created_at)
      select id, author_id, title, text, created_at
      from jsonb_populate_recordset(null::posts, ${JSON.stringify(newPosts)}::jsonb)`.execute(db);
    return ids;
  });
}

/** Updates planner statistics, and the visibility map for index-only scans. */
export async function vacuumAnalyze(db: Database): Promise<void> {
  await sql`vacuum analyze accounts, posts, graph_likes, graph_like_counts, graph_friendships`.execute(db);
}

/** Reserves ids from the sequence. */
async function reserveIds(db: Database, table: TableWithIds, count: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select nextval(${`${table}_id_seq`}::regclass) as id from generate_series(1, ${count}::int)`.execute(db);
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

async function insertInBatches(
  step: string,
  total: number,
  progress: Progress,
  insert: (start: number, count: number) => Promise<number[]>,
): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < total; start += ROWS_PER_STATEMENT) {
    progress(step, start, total);
    for (const id of await insert(start, Math.min(ROWS_PER_STATEMENT, total - start))) ids.push(id);
  }
  progress(step, total, total);
  return ids;
}
