import type { Subject } from '../../rule.js';
import { pathIntegerRules, queryIntegerRules } from './integers.js';
import { mediaTypeRules } from './media-types.js';
import { noBodyRules } from './no-body.js';
import { unknownFieldRules, unknownParameterRules } from './unknown-fields.js';

export const bodies: Subject = {
  name: 'Bodies, parameters and unknown fields',
  rules: [
    ...queryIntegerRules,
    ...pathIntegerRules,
    ...noBodyRules,
    ...mediaTypeRules,
    ...unknownParameterRules,
    ...unknownFieldRules,
  ],
};
