import type { Subject } from '../../rule.js';
import { countRules, crossSiteRule, fieldsRule, forgedRule } from './counted.js';
import { exceededRule, newWindowRule, resetRule, uncountedRule } from './windows.js';

/** These rules count requests, so no other rules may run at the same time. */
export const limits: Subject = {
  name: 'Rate limits',
  rules: [
    // First: earlier rules have already used up a part of the general bucket, so that fewer requests exceed it.
    exceededRule('general'),
    newWindowRule,
    exceededRule('strict'),
    // The rules for the general bucket come next. Meanwhile, the window of the strict bucket, which is used up, may end.
    resetRule,
    ...countRules('general'),
    uncountedRule,
    forgedRule,
    ...countRules('strict'),
    fieldsRule,
    crossSiteRule,
  ],
};
