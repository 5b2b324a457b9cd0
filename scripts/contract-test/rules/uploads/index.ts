import type { Subject } from '../../rule.js';
import { dimensionRules } from './dimensions.js';
import { metadataRules } from './metadata.js';
import { formSyntaxRule, partRules } from './parts.js';
import { imageDeletionRules, removalRules } from './removal.js';
import { formSizeRule, sizeRules } from './size.js';
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
    formSizeRule,
    ...dimensionRules,
    ...partRules,
    formSyntaxRule,
    ...removalRules,
    ...imageDeletionRules,
  ],
};
