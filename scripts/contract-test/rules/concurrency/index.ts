import type { Subject } from '../../rule.js';
import { accountRaces } from './accounts.js';
import { manyUsersRace, relationRaces } from './friends.js';
import { likeRaces } from './likes.js';
import { postRaces } from './posts.js';
import { concurrentReads } from './reads.js';

export const concurrency: Subject = {
  name: 'Concurrency',
  rules: [concurrentReads, ...relationRaces, manyUsersRace, ...likeRaces, ...postRaces, ...accountRaces],
};
