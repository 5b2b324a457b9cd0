import type { Subject } from '../../rule.js';
import { cursorRules } from './cursors.js';
import { friendListRules } from './friends.js';
import { pageRules } from './pages.js';
import { postListRules } from './posts.js';

export const lists: Subject = {
  name: 'Lists',
  rules: [...pageRules, ...cursorRules, ...postListRules, ...friendListRules],
};
