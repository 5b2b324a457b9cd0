import type { Subject } from '../../rule.js';
import { friendshipRules } from './friendships.js';
import { idRules } from './ids.js';
import { relationshipRules } from './relationships.js';
import { transitionRules } from './transitions.js';

export const friends: Subject = {
  name: 'Friends',
  rules: [...transitionRules, ...friendshipRules, ...idRules, ...relationshipRules],
};
