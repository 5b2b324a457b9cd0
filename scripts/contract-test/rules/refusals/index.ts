import type { Subject } from '../../rule.js';
import { clearedCookieRules, keptCookieRules } from './cookies.js';
import { credentialRules } from './credentials.js';
import { documentRules } from './document.js';
import { actionMessageRule, messageRules } from './messages.js';
import { furtherOrderRules, operationOrderRules } from './order.js';
import { originHeaderRule, safeOriginRules, unsafeOriginRules } from './origins.js';

export const refusals: Subject = {
  name: 'Order of checks, origins and cookies',
  rules: [
    ...operationOrderRules,
    ...unsafeOriginRules,
    ...safeOriginRules,
    originHeaderRule,
    ...clearedCookieRules,
    ...keptCookieRules,
    ...documentRules,
    ...messageRules,
    actionMessageRule,
    ...furtherOrderRules,
    ...credentialRules,
  ],
};
