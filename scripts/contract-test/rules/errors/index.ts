import type { Subject } from '../../rule.js';
import { servedDocumentRules } from '../served-document.js';
import { messageRules } from './messages.js';
import { orderRules } from './order.js';
import { originRules } from './origins.js';

export const errors: Subject = {
  name: 'Order of checks, origins and messages',
  rules: [...orderRules, ...originRules, ...servedDocumentRules, ...messageRules],
};
