import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { onFailpoint } from '../../db/support/failpoints.js';
import { type Deadly, momentFiles } from './moments.js';

// For `node --import`, in a service that shall die: notes each moment that is reached, and kills the process at the deadly
// one. All of it is done at once, before anything else can happen.
const files = momentFiles(process.env.MOMENTS ?? '');

onFailpoint((moment) => {
  appendFileSync(files.reached, `${moment}\n`);
  if (!existsSync(files.deadly)) return;
  const deadly: Deadly = JSON.parse(readFileSync(files.deadly, 'utf8'));
  const times = readFileSync(files.reached, 'utf8').split(`${deadly.moment}\n`).length - 1;
  if (moment === deadly.moment && times === deadly.time) process.kill(process.pid, 'SIGKILL');
});
