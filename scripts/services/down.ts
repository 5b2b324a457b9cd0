import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { stop } from './control.js';
import { folder, withFolderLock } from './folder.js';
import { isAlive } from './processes.js';
import { printProgress } from './progress.js';
import { readState, type ServerName } from './state.js';

/** Stops servers. Keeps the folder with their data and downloads, unless `purge` is set. */
export async function down(names: readonly ServerName[], purge = false): Promise<void> {
  if (!existsSync(folder())) return;
  await withFolderLock(async () => {
    const state = readState();
    await Promise.all(
      names.map(async (name) => {
        if (!state || !isAlive(state.servers[name])) return;
        await stop(state, name);
        printProgress(name, 'stopped');
      }),
    );
    if (purge) await rm(folder(), { recursive: true });
  });
}
