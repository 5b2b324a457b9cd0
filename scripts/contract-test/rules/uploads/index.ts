import type { Subject } from '../../rule.js';
import { metadataRules } from './metadata.js';
import { partRules } from './parts.js';
import { imageDeletionRules, removalRules } from './removal.js';
import { sizeRules } from './size.js';
import { acceptedTypeRules, otherSignatureRules, rejectedTypeRules } from './types.js';

/** Every kind of file on every form that accepts one. */
export const uploads: Subject = {
  name: 'Uploads',
  rules: [
    ...acceptedTypeRules,
    ...otherSignatureRules,
    ...rejectedTypeRules,
    ...metadataRules,
    ...sizeRules,
    ...partRules,
    ...removalRules,
    ...imageDeletionRules,
  ],
};
