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
    ...loginFieldRules,
    ...takenRules,
    // Must be last: they may delete the account that the other rules use.
    ...exactPasswordRules,
    exactPasswordDeletionRule,
  ],
};
