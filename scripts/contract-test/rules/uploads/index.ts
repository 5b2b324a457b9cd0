import type { Subject } from '../../rule.js';
import { dimensionRules } from './dimensions.js';
import { metadataRules } from './metadata.js';
import { partRules } from './parts.js';
import { removalRules } from './removal.js';
import { sizeRules } from './size.js';
import { typeRules } from './types.js';

export const uploads: Subject = {
  name: 'Uploads',
  rules: [...typeRules, ...metadataRules, ...sizeRules, ...dimensionRules, ...partRules, ...removalRules],
};
