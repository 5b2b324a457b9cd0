import type { Subject } from '../../rule.js';
import { cookieRules } from './cookies.js';
import { credentialRules } from './credentials.js';
import { endRules } from './end.js';
import { listRules } from './list.js';
import { loginRules } from './login.js';

export const sessions: Subject = {
  name: 'Login and sessions',
  rules: [...loginRules, ...listRules, ...endRules, ...cookieRules, ...credentialRules],
};
