import type { Subject } from '../../rule.js';
import { cursorRules, hiddenRunRule } from './cursors.js';
import { friendListRules } from './friends.js';
import { pageRules } from './pages.js';
import { postListRules } from './posts.js';

export const lists: Subject = {
  name: 'Lists',
  rules: [
    ...pageRules,
    ...cursorRules,
    ...postListRules,
    ...friendListRules,
    // Must be last: the other rules read the posts that it hides.
    hiddenRunRule,
  ],
};
