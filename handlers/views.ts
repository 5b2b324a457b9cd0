import type { Account, FieldTaken } from '../db/accounts.js';
import type { PostRow } from '../db/posts.js';
import type { ViewerLikes } from '../db/relations.js';
import type { SessionRow } from '../db/schema.js';
import type { components } from '../generated/types.js';
import { errorResponse } from './http/errors.js';

/* Views convert rows of the database to the schemas of the contract. */

type Schemas = components['schemas'];

/** Returns the path of an image, or null if there is no image. */
const imageLink = (route: 'posts' | 'profiles', image: string | null) => image && `/${route}/image/${image}`;

export const accountView = ({ id, name, username, email }: Account): Schemas['Account'] => ({
  id,
  name,
  username,
  email,
});

/** Returns the complete profile, for its owner and for users who may see it. */
export const fullProfileView = (account: Account): Schemas['FullProfile'] => ({
  ...briefProfileView(account),
  profile_link: imageLink('profiles', account.picture),
  private: account.private,
});

/** Returns the part of a profile that every user may see, even if the account is private. */
export const briefProfileView = ({ id, name, username }: Account): Schemas['Profile'] => ({ id, name, username });

/** Returns the 409 for a username or email that another account has. */
export const takenResponse = ({ field }: FieldTaken) =>
  errorResponse(`${field}_taken`, `The ${field === 'email' ? 'email address' : 'username'} is already in use.`);

export const sessionView = (session: SessionRow, current: string): Schemas['Session'] => ({
  id: session.id,
  device_name: session.device_name,
  created_at: session.created_at,
  last_used_at: session.last_used_at,
  current: session.id === current,
});

export const postView = (post: Omit<PostRow, 'author_private'>, likes: ViewerLikes): Schemas['Post'] => ({
  id: post.id,
  title: post.title,
  text: post.text,
  image: imageLink('posts', post.image),
  author_id: post.author_id,
  author_username: post.author_username,
  created_at: post.created_at,
  like_count: likes.count,
  liked_by_me: likes.liked,
});
