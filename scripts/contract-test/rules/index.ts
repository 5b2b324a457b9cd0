import type { Subject } from '../rule.js';
import { accounts } from './accounts.js';
import { bodies } from './bodies/index.js';
import { concurrency } from './concurrency/index.js';
import { errors } from './errors/index.js';
import { fields } from './fields/index.js';
import { friends } from './friends/index.js';
import { http } from './http.js';
import { images } from './images.js';
import { likes } from './likes.js';
import { limits } from './limits/index.js';
import { lists } from './lists/index.js';
import { shortFeed } from './lists/posts.js';
import { operations } from './operations.js';
import { passwords } from './passwords/index.js';
import { posts } from './posts/index.js';
import { profiles } from './profiles/index.js';
import { sessions } from './sessions/index.js';
import { slow } from './slow.js';
import { updates } from './updates.js';
import { uploads } from './uploads/index.js';
import { viewers } from './viewers.js';

/** All subjects. Those of a group run concurrently; the next group starts when all of them have finished. */
export const groups: Subject[][] = [
  // First, before other rules publish posts.
  [shortFeed],
  [
    accounts,
    passwords,
    sessions,
    profiles,
    posts,
    images,
    likes,
    friends,
    viewers,
    updates,
    fields,
    ...uploads,
    bodies,
    errors,
    concurrency,
    slow,
    operations,
    http,
  ],
  // Compares pages of the feed, which must not change meanwhile.
  [lists],
  // Counts requests and uses up rate limits.
  [limits],
];
