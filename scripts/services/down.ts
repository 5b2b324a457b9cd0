import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { stop } from './control.js';
import { alone, folder } from './folder.js';
import { lives } from './processes.js';
import { say } from './say.js';
import { readState, SERVER_NAMES, type ServerName } from './state.js';

/** Stops servers and keeps their data; with `purge` everything in the folder is deleted. */
export async function down(names: readonly ServerName[] = SERVER_NAMES, purge = false): Promise<void> {
  if (!existsSync(folder())) return;
  await alone(async () => {
    const state = readState();
    await Promise.all(
      names.map(async (name) => {
        const running = state?.servers[name];
        if (!state || !running || !lives(running)) return;
        await stop(state, name);
        say(name, 'stopped');
      }),
    );
    if (purge) await rm(folder(), { recursive: true });
  });
}
