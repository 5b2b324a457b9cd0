import type { ColumnType, Generated, Selectable } from 'kysely';

/** RFC 3339, in UTC, with milliseconds. */
type Time = string;
type CreatedAt = ColumnType<Time, never, never>;

export interface AccountsTable {
  id: Generated<number>;
  name: string;
  username: string;
  /** Unique: see `usernameKey`. */
  username_key: string;
  email: string;
  password_hash: string;
  /** Incremented by every password change. Tokens with another version are rejected. */
  token_version: Generated<number>;
  private: Generated<boolean>;
  /** The stored image's name. */
  picture: string | null;
  /** The picture's size; 0 without one, and for pictures stored before sizes were recorded. */
  picture_bytes: Generated<number>;
  /** The total size of the picture and of all images of posts. */
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
  /** The image's size; 0 without one, and for images stored before sizes were recorded. */
  image_bytes: Generated<number>;
  created_at: CreatedAt;
}

/** The idempotency key of a request, and the fields of its response: see `idempotency-keys.ts`. */
export interface IdempotencyKeysTable {
  account_id: number;
  key: string;
  /** SHA-256 of the form, in base64url. */
  form_hash: string;
  post_id: number;
  /** As in the response to the first request. */
  image: string | null;
  author_username: string | null;
  created_at: ColumnType<Time, Time, Time>;
}

/** Entities whose changes are not delivered to another store yet: see `outbox/index.ts`. */
export interface OutboxTable {
  id: Generated<number>;
  kind: 'person' | 'post' | 'image';
  /** An id, or an image's name. */
  key: string;
  due_at: ColumnType<Time, Time | Date | undefined, Time | Date>;
  attempts: Generated<number>;
  /** Whether a removal was delivered once and waits for its second delivery: see `maxCommitDelayMs` of the graph. */
  delivered: Generated<boolean>;
  created_at: CreatedAt;
}

/** A single row: see `installation.ts`. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  id: Generated<string>;
  /** The kinds of the other stores; null until they are claimed. */
  graph: string | null;
  images: string | null;
  /** Whether a move into this PostgreSQL is unfinished. */
  moving: Generated<boolean>;
  /** Whether a move to another graph or image store is unfinished. */
  changing: Generated<boolean>;
  /** The location of the PostgreSQL that replaced this one, without the password. */
  moved_to: string | null;
}

export interface GraphLikesTable {
  person_id: number;
  post_id: number;
}

/** The number of likes of each post that has any. Triggers on `graph_likes` maintain it. */
export interface GraphLikeCountsTable {
  post_id: number;
  likes: number;
}

/** A friendship or friend request: one row per pair of people. `lo` is the smaller id. */
export interface GraphFriendshipsTable {
  lo: number;
  hi: number;
  /** The sender of the pending friend request; null if they are friends. */
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
