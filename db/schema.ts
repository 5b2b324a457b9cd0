import type { ColumnType, Generated, Selectable } from 'kysely';

/** As RFC 3339 spells it, in UTC with milliseconds. */
type Time = string;
type CreatedAt = ColumnType<Time, never, never>;

export interface AccountsTable {
  id: Generated<number>;
  name: string;
  username: string;
  /** What makes a username unique: see `usernameKey`. */
  username_key: string;
  email: string;
  password_hash: string;
  /** Rises with every password change; a token that carries another one is refused. */
  token_version: Generated<number>;
  private: Generated<boolean>;
  /** The stored image's name. */
  picture: string | null;
  /** The picture's size; 0 without one, and for a picture from before sizes were kept. */
  picture_bytes: Generated<number>;
  /** The sizes of the picture and of all images of posts together. */
  stored_bytes: Generated<number>;
  created_at: CreatedAt;
}

export interface SessionsTable {
  id: string;
  account_id: number;
  device_name: string;
  created_at: CreatedAt;
  last_used_at: ColumnType<Time, never, Time | Date>;
  expires_at: ColumnType<Time, Date, Date>;
}

export interface PostsTable {
  id: Generated<number>;
  /** No foreign key: a post whose author row is missing is still shown. */
  author_id: number;
  title: string;
  text: string;
  /** The stored image's name. */
  image: string | null;
  /** The image's size; 0 without one, and for an image from before sizes were kept. */
  image_bytes: Generated<number>;
  created_at: CreatedAt;
}

/** A request that may be repeated without effect, and what its response was made of: see `idempotency-keys.ts`. */
export interface IdempotencyKeysTable {
  account_id: number;
  key: string;
  /** SHA-256 of the form, in base64url. */
  form_hash: string;
  post_id: number;
  /** What the post's fields of these names held when it was created. */
  image: string | null;
  author_username: string | null;
  created_at: ColumnType<Time, Time, Time>;
}

/** What another store has yet to agree with. */
export interface OutboxTable {
  id: Generated<number>;
  kind: 'person' | 'post' | 'image';
  /** An id or an image's name. */
  key: string;
  due_at: ColumnType<Time, Time | Date | undefined, Time | Date>;
  attempts: Generated<number>;
  /** Whether it only waits to be delivered once more: see `maxCommitDelayMs` of the graph. */
  delivered: Generated<boolean>;
  created_at: CreatedAt;
}

/** The one row that says which stores belong together. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  id: Generated<string>;
  /** The kinds of the stores beside this one, once they are known. */
  graph: string | null;
  images: string | null;
  /** While it is filled from other stores. */
  moving: Generated<boolean>;
  /** While another graph or image store is filled, to take the place of its own. */
  changing: Generated<boolean>;
  /** Where the PostgreSQL is that serves in place of this one; without its password. */
  moved_to: string | null;
}

export interface GraphLikesTable {
  person_id: number;
  post_id: number;
}

/** How many likes a post has, if any. Kept by the database itself, as `graph_likes` changes. */
export interface GraphLikeCountsTable {
  post_id: number;
  likes: number;
}

/** One row for a pair of people, whatever there is between them: `lo` is the smaller id. */
export interface GraphFriendshipsTable {
  lo: number;
  hi: number;
  /** Who has asked; null once they are friends. */
  requester: number | null;
}

export interface Tables {
  accounts: AccountsTable;
  sessions: SessionsTable;
  posts: PostsTable;
  idempotency_keys: IdempotencyKeysTable;
  outbox: OutboxTable;
  installation: InstallationTable;
  graph_likes: GraphLikesTable;
  graph_like_counts: GraphLikeCountsTable;
  graph_friendships: GraphFriendshipsTable;
}

export type AccountRow = Selectable<AccountsTable>;
export type SessionRow = Selectable<SessionsTable>;
