import type { Subject } from '../../rule.js';
import { dimensionRules } from './dimensions.js';
import { metadataRules } from './metadata.js';
import { formSyntaxRule, partRules } from './parts.js';
import { deletionRules, removeOrReplaceRules } from './removal.js';
import { formSizeRule, sizeRules } from './size.js';
import { acceptedTypeRules, rejectedTypeRules, signatureRules } from './types.js';

/** The forms that accept an image: types, metadata, sizes, dimensions, syntax, and the removal of images. */
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
    ...removeOrReplaceRules,
    ...deletionRules,
  ],
};
