import type { Account } from '../db/accounts.js';
import type { PostFields } from '../db/posts.js';
import type { ViewerLikes } from '../db/relations.js';
import type { SessionRow } from '../db/schema.js';
import type { components } from '../generated/types.js';

/* Functions that convert database rows to views: objects that match the schemas of the contract. */

type Schemas = components['schemas'];

/** Returns the path of an image, or null if there is no image. */
const imagePath = (route: 'posts' | 'profiles', image: string | null) => image && `/${route}/image/${image}`;

export const accountView = ({ id, name, username, email }: Account): Schemas['Account'] => ({
  id,
  name,
  username,
  email,
});

/** Returns the full profile, for its owner and for users who may see it. */
export const fullProfileView = (account: Account): Schemas['FullProfile'] => ({
  ...reducedProfileView(account),
  profile_link: imagePath('profiles', account.picture),
  private: account.private,
});

/** Returns the part of a profile that every user may see, even if the account is private. */
export const reducedProfileView = ({ id, name, username }: Account): Schemas['Profile'] => ({ id, name, username });

export const sessionView = (session: SessionRow, currentId: string): Schemas['Session'] => ({
  id: session.id,
  device_name: session.device_name,
  created_at: session.created_at,
  last_used_at: session.last_used_at,
  current: session.id === currentId,
});

export const postView = (row: PostFields, { count, liked }: ViewerLikes): Schemas['Post'] => ({
  id: row.id,
  title: row.title,
  text: row.text,
  image: imagePath('posts', row.image),
  author_id: row.author_id,
  author_username: row.author_username,
  created_at: row.created_at,
  like_count: count,
  liked_by_me: liked,
});
