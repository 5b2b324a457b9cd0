import type { Subject } from '../../rule.js';
import { servedDocumentRules } from './document.js';
import { messageRules } from './messages.js';
import { orderRules } from './order.js';
import { originRules } from './origins.js';

export const refusals: Subject = {
  name: 'Order of checks, origins and messages',
  rules: [...orderRules, ...originRules, ...servedDocumentRules, ...messageRules],
};
