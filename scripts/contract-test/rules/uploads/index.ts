import type { Subject } from '../../rule.js';
import { dimensionRules } from './dimensions.js';
import { FORMS } from './forms.js';
import { metadataRules } from './metadata.js';
import { partRules } from './parts.js';
import { removalRules } from './removal.js';
import { sizeRules } from './size.js';
import { typeRules } from './types.js';

const rules = [...typeRules, ...metadataRules, ...sizeRules, ...dimensionRules, ...partRules, ...removalRules];

/** Returns the form whose id ends the id of a rule. Rules without one create posts, so they belong to the first form. */
const formOf = ({ id }: { id: string }) => FORMS.find((form) => id.endsWith(`.${form.id}`)) ?? FORMS[0];

/** A subject for each form. Each form changes an image of its own, so the subjects can run concurrently. */
export const uploads: Subject[] = FORMS.map((form) => ({
  name: `Uploads: ${form.title}`,
  rules: rules.filter((rule) => formOf(rule) === form),
}));
