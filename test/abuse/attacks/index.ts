import type { Attack } from '../attack.js';
import { abandonedChecks } from './abandoned-checks.js';
import { crossSite } from './cross-site.js';
import { deepPages } from './deep-pages.js';
import { documents } from './documents.js';
import { guessedPasswords } from './guessed-passwords.js';
import { idleSockets } from './idle-sockets.js';
import { loginFlood } from './login-flood.js';
import { nastyTextsEverywhere } from './nasty-texts.js';
import { pipelinedFlood } from './pipelined-flood.js';
import { sessions } from './sessions.js';
import { slowTexts } from './slow-texts.js';
import { storage } from './storage.js';
import { trickledImages } from './trickled-images.js';
import { unreadPages } from './unread-pages.js';

export const attacks: readonly Attack[] = [
  slowTexts,
  nastyTextsEverywhere,
  unreadPages,
  trickledImages,
  loginFlood,
  abandonedChecks,
  deepPages,
  pipelinedFlood,
  sessions,
  storage,
  crossSite,
  documents,
  idleSockets,
  guessedPasswords,
];
