import type { Subject } from '../rule.js';
import { accounts } from './accounts.js';
import { friends } from './friends.js';
import { overHttp } from './http.js';
import { images } from './images.js';
import { likes } from './likes.js';
import { limits } from './limits.js';
import { operations } from './operations.js';
import { passwords } from './passwords.js';
import { posts } from './posts.js';
import { profiles } from './profiles.js';
import { sessions } from './sessions.js';
import { visibility } from './visibility.js';

/** Every subject. Those of one group go side by side; the next one begins when all of them are done. */
export const groups: Subject[][] = [
  [accounts, passwords, sessions, profiles, posts, images, likes, friends, visibility, operations, overHttp],
  // It uses up the strict limit, for which everybody else would have to wait.
  [limits],
];
