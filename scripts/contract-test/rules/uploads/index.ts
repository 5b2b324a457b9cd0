import type { Subject } from '../../rule.js';
import { dimensionRules } from './dimensions.js';
import { metadataRules } from './metadata.js';
import { partRules } from './parts.js';
import { imageDeletionRules, removalRules } from './removal.js';
import { sizeRules } from './size.js';
import { acceptedTypeRules, rejectedTypeRules, signatureRules } from './types.js';

/** Every kind of file on every form that accepts one. */
export const uploads: Subject = {
  name: 'Uploads',
  rules: [
    ...acceptedTypeRules,
    ...signatureRules,
    ...rejectedTypeRules,
    ...metadataRules,
    ...sizeRules,
    ...dimensionRules,
    ...partRules,
    ...removalRules,
    ...imageDeletionRules,
  ],
};
