import type { ColumnType, Generated, Selectable } from 'kysely';

/** RFC 3339, in UTC, with milliseconds. */
type Time = string;
type CreatedAt = ColumnType<Time, never, never>;

interface AccountsTable {
  id: Generated<number>;
  name: string;
  username: string;
  /** The key by which usernames are unique: see `usernameKey`. */
  username_key: string;
  email: string;
  password_hash: string;
  /** Incremented when the password changes or the account is disabled. Tokens with another version are rejected. */
  token_version: Generated<number>;
  private: Generated<boolean>;
  /** The name of the stored image. */
  picture: string | null;
  /** The size of the picture. 0 without a picture, or if it was stored before sizes were recorded. */
  picture_bytes: Generated<number>;
  /** The total size of the picture and of the images of all posts. */
  stored_bytes: Generated<number>;
  created_at: CreatedAt;
  /** When the operator disabled the account, which then has no sessions and cannot log in. Null otherwise. */
  disabled_at: Time | null;
}

interface SessionsTable {
  id: string;
  account_id: number;
  device_name: string;
  created_at: CreatedAt;
  last_used_at: ColumnType<Time, never, Time | Date>;
  expires_at: ColumnType<Time, Date, Date>;
}

interface PostsTable {
  id: Generated<number>;
  /**
   * No foreign key, because the contract provides for posts whose author no longer has an account: their `author_username` is
   * null. The service creates no such posts, because it deletes an account together with its posts.
   */
  author_id: number;
  title: string;
  text: string;
  /** The name of the stored image. */
  image: string | null;
  /** The size of the image. 0 without an image, or if it was stored before sizes were recorded. */
  image_bytes: Generated<number>;
  created_at: CreatedAt;
}

/** The idempotency key of a request, and the fields of its response: see `idempotency-keys.ts`. */
interface IdempotencyKeysTable {
  account_id: number;
  key: string;
  /** SHA-256 of the form, in base64url. */
  form_hash: string;
  post_id: number;
  /** The name of the image, as in the response to the first request. */
  image: string | null;
  author_username: string | null;
  created_at: ColumnType<Time, Time, Time>;
}

export const OUTBOX_KINDS = ['person', 'post', 'image'] as const;
export type OutboxKind = (typeof OUTBOX_KINDS)[number];

/** Outbox entries: entities whose changes have yet to be delivered to another store. See `outbox/index.ts`. */
export interface OutboxTable {
  id: Generated<number>;
  kind: OutboxKind;
  /** The id of an account or post, or the name of an image. */
  key: string;
  due_at: ColumnType<Time, Time | Date | undefined, Time | Date>;
  /** The number of failed deliveries. */
  attempts: Generated<number>;
  /** Whether the removal of a node was delivered once and waits for its second delivery: see `deliverRemoval`. */
  delivered: Generated<boolean>;
  created_at: CreatedAt;
}

/** Has a single row: see `stores/installation.ts`. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  id: Generated<string>;
  /** The kind of the graph; null until a graph is claimed. */
  graph: string | null;
  /** The kind of the image store; null until an image store is claimed. */
  images: string | null;
  /** In the target of a move to another PostgreSQL: whether it is still being filled. */
  moving: Generated<boolean>;
  /** The PostgreSQL that the data was moved to: its URL without credentials, or its directory. Null if not moved. */
  moved_to: string | null;
}

/** The changes made by `npm run admin`: see `operator-log.ts`. */
interface OperatorLogTable {
  id: Generated<number>;
  created_at: CreatedAt;
  operator: string;
  command: string;
  account_id: number | null;
  post_id: number | null;
  reason: string | null;
}

interface GraphLikesTable {
  person_id: number;
  post_id: number;
}

/** The number of likes of each post that has likes. Triggers on `graph_likes` maintain it. */
interface GraphLikeCountsTable {
  post_id: number;
  likes: number;
}

/** A friendship or friend request: one row per pair of people. `lo` is the smaller id. */
interface GraphFriendshipsTable {
  lo: number;
  hi: number;
  /** The sender of the pending friend request; null for a friendship. */
  requester: number | null;
}

export interface Tables {
  accounts: AccountsTable;
  sessions: SessionsTable;
  posts: PostsTable;
  idempotency_keys: IdempotencyKeysTable;
  outbox: OutboxTable;
  installation: InstallationTable;
  operator_log: OperatorLogTable;
  graph_likes: GraphLikesTable;
  graph_like_counts: GraphLikeCountsTable;
  graph_friendships: GraphFriendshipsTable;
}

export type AccountRow = Selectable<AccountsTable>;
export type SessionRow = Selectable<SessionsTable>;
export type OperatorLogRow = Selectable<OperatorLogTable>;
