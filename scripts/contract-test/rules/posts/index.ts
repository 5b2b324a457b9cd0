import type { Subject } from '../../rule.js';
import { createRules } from './create.js';
import { editAndDeleteRules } from './edit-and-delete.js';
import { idempotencyKeyRules } from './idempotency-key.js';
import { readRules } from './read.js';

export const posts: Subject = {
  name: 'Posts',
  rules: [...createRules, ...readRules, ...editAndDeleteRules, ...idempotencyKeyRules],
};
