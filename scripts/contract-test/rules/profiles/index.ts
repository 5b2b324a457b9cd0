import type { Subject } from '../../rule.js';
import { accountDeletionRules } from './account-deletion.js';
import { readRules } from './read.js';
import { updateRules } from './update.js';

export const profiles: Subject = {
  name: 'Profiles and account deletion',
  rules: [...readRules, ...updateRules, ...accountDeletionRules],
};
