import type { Attack } from '../attack.js';
import { abandonedChecks } from './abandoned-checks.js';
import { deepPages } from './deep-pages.js';
import { documents } from './documents.js';
import { expensiveTextsEverywhere } from './expensive-texts.js';
import { loginFlood } from './login-flood.js';
import { pipelinedFlood } from './pipelined-flood.js';
import { trickledImages } from './trickled-images.js';
import { unreadPages } from './unread-pages.js';

/** All attacks, by name. */
export const attacks: Record<string, Attack> = {
  'expensive-texts': expensiveTextsEverywhere,
  'unread-pages': unreadPages,
  'trickled-images': trickledImages,
  'login-flood': loginFlood,
  'abandoned-checks': abandonedChecks,
  'deep-pages': deepPages,
  'pipelined-flood': pipelinedFlood,
  documents,
};
