import { table } from '../table.js';
import { isAnswering, knownState } from './control.js';
import { lives, memoryOf } from './processes.js';
import { servers } from './servers.js';
import { SERVER_NAMES } from './state.js';

/** Prints a table, and answers whether everything is up. */
export async function status(): Promise<boolean> {
  const state = knownState();
  const rows = await Promise.all(
    SERVER_NAMES.map(async (name) => {
      const running = state.servers[name];
      const alive = running !== undefined && lives(running);
      return {
        name,
        version: `${servers[name].title} ${running?.version ?? ''}`.trim(),
        address: `127.0.0.1:${state.ports[name] ?? ''}`,
        pid: alive ? String(running.pid) : '',
        state: !alive ? 'down' : (await isAnswering(state, name)) ? 'up' : 'does not answer',
        memory: alive ? `${Math.round(memoryOf(running) / 2 ** 20)} MiB` : '',
      };
    }),
  );
  console.log(table(rows));
  return rows.every((row) => row.state === 'up');
}
