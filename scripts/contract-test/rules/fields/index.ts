import type { Subject } from '../../rule.js';
import { valueRules } from './accepted-and-rejected.js';
import { codeRules } from './codes.js';
import { exactPasswordDeletionRule, exactPasswordRules } from './exact-passwords.js';
import { loginFieldRules } from './login.js';
import { takenRules } from './taken.js';

export const fields: Subject = {
  name: 'Fields',
  rules: [
    ...valueRules,
    ...codeRules,
    ...exactPasswordRules,
    ...loginFieldRules,
    ...takenRules,
    // Must be last: the other rules use the account.
    exactPasswordDeletionRule,
  ],
};
