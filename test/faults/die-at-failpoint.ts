import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { onFailpoint } from '../../db/support/failpoints.js';
import { type FailpointHit, failpointFiles } from './failpoints.js';

// Preloaded by `node --import`: logs every failpoint hit, and kills the process at the chosen one. All calls are synchronous,
// so that no other JavaScript of this thread runs between the hit and the kill.
const files = failpointFiles(process.env.FAILPOINT_DIRECTORY ?? '');

onFailpoint((name) => {
  appendFileSync(files.hits, `${name}\n`);
  if (!existsSync(files.target)) return;
  const target: FailpointHit = JSON.parse(readFileSync(files.target, 'utf8'));
  const hits = readFileSync(files.hits, 'utf8').split(`${target.failpoint}\n`).length - 1;
  if (name === target.failpoint && hits === target.hit) process.kill(process.pid, 'SIGKILL');
});
