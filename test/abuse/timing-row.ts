import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Figure } from './attack.js';
import { killOnExit } from './service.js';

const TIMING_TIMEOUT_MS = 600_000;

/** With 250 pairs, fewer than one run in a thousand fails by chance. */
const PAIRS = { quick: 250, full: 500 };

/** Runs `timing.ts` as a command. Returns an outcome that fails if the exit code is not 0. */
export async function runTiming(quick: boolean): Promise<{ attack: string; figures: Figure[] }> {
  const path = fileURLToPath(new URL('./timing.js', import.meta.url));
  const child = spawn(process.execPath, [path, '--pairs', String(quick ? PAIRS.quick : PAIRS.full)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  killOnExit(child);
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), TIMING_TIMEOUT_MS);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  return { attack: 'timing', figures: [{ name: 'distinguishable', value: Number(code !== 0), atMost: 0 }] };
}
