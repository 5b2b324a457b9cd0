import type { Subject } from '../../rule.js';
import { changeRules } from './changes.js';
import { policyRules } from './policy.js';

export const passwords: Subject = { name: 'Passwords', rules: [...policyRules, ...changeRules] };
