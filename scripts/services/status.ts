import { table } from '../table.js';
import { isReady, requireState } from './control.js';
import { isAlive } from './processes.js';
import { servers } from './servers.js';
import { SERVER_NAMES } from './state.js';

/** Prints the servers as a table. Returns whether all are up. */
export async function printStatus(): Promise<boolean> {
  const state = requireState();
  const rows = await Promise.all(
    SERVER_NAMES.map(async (name) => {
      const running = state.servers[name];
      const alive = isAlive(running);
      return {
        name,
        version: `${servers[name].title} ${running?.version ?? ''}`.trim(),
        address: `127.0.0.1:${state.ports[name]}`,
        pid: alive ? `${running?.pid}` : '',
        state: !alive ? 'down' : (await isReady(state, name)) ? 'up' : 'no response',
      };
    }),
  );
  console.log(table(rows));
  return rows.every((row) => row.state === 'up');
}
