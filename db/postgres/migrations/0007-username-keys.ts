import { type Kysely, sql } from 'kysely';

const BATCH_SIZE = 1000;

/**
 * Recomputes the keys of usernames with NFKC case folding, which ignores invisible code points and distinguishes ı from i. An
 * account keeps its old key if the new one would be empty, or if another account already has it. ASCII usernames are skipped,
 * because their keys do not change.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (let after = '0'; ; ) {
    const { rows } = await sql<{ id: string; username: string; key: string }>`
      select id::text, username, username_key as key from accounts
      where id > ${after}::bigint and username ~ '[^\\x01-\\x7f]'
      order by id limit ${BATCH_SIZE}`.execute(db);
    for (const { id, username, key } of rows) {
      const newKey = usernameKey(username);
      if (newKey === key || newKey === '') continue;
      await sql`
        update accounts set username_key = ${newKey}
        where id = ${id}::bigint and not exists (select from accounts where username_key = ${newKey})`.execute(db);
    }
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}

/** The function `usernameKey` of `db/accounts.ts`, as it was when this migration was written. */
const usernameKey = (username: string): string =>
  username
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase())
    .join('ı')
    .normalize('NFKC');
