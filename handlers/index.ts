import { auth } from './auth.js';
import { friends } from './friends.js';
import type { Handlers } from './operation.js';
import { posts } from './posts.js';
import { profiles } from './profiles.js';
import { relationships } from './relationships.js';

/** The handlers of all operations, by operationId. */
export const handlers = { ...auth, ...profiles, ...posts, ...friends, ...relationships } satisfies Handlers;
