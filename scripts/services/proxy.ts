import { folder } from './folder.js';
import { goProgram } from './go.js';
import type { Server } from './server.js';

const program = goProgram('proxy', 'github.com/Shopify/toxiproxy/v2/cmd/server', 'v2.5.0');

/** The server that injects faults. It starts without proxies, which tests create through its HTTP API. */
export const proxy: Server = {
  title: 'toxiproxy',
  stopSignal: 'SIGTERM',
  ...program.members,

  prepare: async (_state, port) => ({
    command: program.binary(),
    args: ['-host', '127.0.0.1', '-port', String(port)],
    cwd: folder(),
  }),

  async checkReady(_state, port) {
    const response = await fetch(`http://127.0.0.1:${port}/version`, { signal: AbortSignal.timeout(3000) });
    if (!response.ok) throw new Error(`status ${response.status}`);
  },
};
