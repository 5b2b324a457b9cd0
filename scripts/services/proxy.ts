import { folder } from './folder.js';
import { goProgram } from './go.js';
import type { Server } from './server.js';

const VERSION = 'v2.5.0';
const program = goProgram('proxy', 'github.com/Shopify/toxiproxy/v2/cmd/server', VERSION);

/** The fault proxy. It starts without proxies; tests create them through its HTTP API. */
export const proxy: Server = {
  title: 'toxiproxy',
  stopSignal: 'SIGTERM',
  tools: program.tools,
  isFetched: program.isFetched,
  fetch: program.fetch,
  version: () => VERSION,

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
