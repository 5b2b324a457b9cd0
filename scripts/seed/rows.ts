import { sql } from 'kysely';
import { usernameKey } from '../../db/accounts.js';
import type { Database } from '../../db/postgres/index.js';
import type { Numbered } from '../../db/postgres/sequences.js';
import type { Population } from './population.js';
import { type Random, randomFrom } from './random.js';
import { fullName, text, title } from './words.js';

/** How many rows one statement adds. */
const BATCH = 2000;

/** Over how long before now the posts are spread, in milliseconds. */
const PAST = 90 * 24 * 60 * 60 * 1000;

type Report = (done: number) => void;

/** Answers the ids, in order. */
export async function addAccounts(
  db: Database,
  { accounts, privatePercent, seed }: Population,
  passwordHash: string,
  report: Report,
): Promise<number[]> {
  const random = randomFrom(seed + 2);
  return inBatches(accounts, report, async (start, count) => {
    const ids = await takeIds(db, 'accounts', count);
    const made = ids.map((id, index) => person(random, id, start + index > 0 ? privatePercent : 0));
    await sql`
      insert into accounts (id, name, username, username_key, email, password_hash, private)
      select id, name, username, username_key, email, ${passwordHash}, private
      from unnest(
        ${ids}::int8[],
        ${made.map(({ name }) => name)}::text[],
        ${made.map(({ username }) => username)}::text[],
        ${made.map(({ username }) => usernameKey(username))}::text[],
        ${made.map(({ email }) => email)}::text[],
        ${made.map((account) => account.private)}::bool[]
      ) as account (id, name, username, username_key, email, private)`.execute(db);
    return ids;
  });
}

/** The id makes a username that nobody has yet. */
function person(random: Random, id: number, privatePercent: number) {
  const name = fullName(random);
  const username = `${name.toLowerCase().replace(' ', '-')}-${id}`;
  return { name, username, email: `${username}@people.example`, private: random(100) < privatePercent };
}

/** Answers the ids, the oldest post first. */
export async function addPosts(
  db: Database,
  { posts, popularPost, seed }: Population,
  authors: readonly number[],
  report: Report,
): Promise<number[]> {
  const random = randomFrom(seed + 3);
  const now = Date.now();
  return inBatches(posts, report, async (start, count) => {
    const ids = await takeIds(db, 'posts', count);
    const made = ids.map((id, index) => {
      const age = posts - 1 - (start + index);
      const author = random(authors.length);
      return {
        id,
        author: authors[age === 0 && popularPost > 0 ? 0 : author],
        title: title(random),
        text: text(random),
        created: new Date(now - Math.floor((PAST / posts) * age)).toISOString(),
      };
    });
    await sql`
      insert into posts (id, author_id, title, text, created_at)
      select * from unnest(
        ${ids}::int8[],
        ${made.map(({ author }) => author)}::int8[],
        ${made.map(({ title }) => title)}::text[],
        ${made.map(({ text }) => text)}::text[],
        ${made.map(({ created }) => created)}::timestamptz[])`.execute(db);
    return ids;
  });
}

/** So that PostgreSQL plans by what is there now, and finds in an index what it may. */
export async function settle(db: Database): Promise<void> {
  await sql`vacuum analyze accounts, posts, graph_likes, graph_like_counts, graph_friendships`.execute(db);
}

/** From the sequence, so that nobody else gets them. */
async function takeIds(db: Database, table: Numbered, count: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select nextval(${`${table}_id_seq`}::regclass) as id from generate_series(1, ${count}::int)`.execute(db);
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

async function inBatches(
  total: number,
  report: Report,
  add: (start: number, count: number) => Promise<number[]>,
): Promise<number[]> {
  const ids: number[] = [];
  for (let start = 0; start < total; start += BATCH) {
    report(start);
    for (const id of await add(start, Math.min(BATCH, total - start))) ids.push(id);
  }
  return ids;
}
