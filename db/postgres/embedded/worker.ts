import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type PGlite, protocol } from '@electric-sql/pglite';
import { createCluster, openCluster } from './cluster.js';
import type { Command, Report, WorkerInput } from './messages.js';

/*
 * The thread of the embedded PostgreSQL. It creates the database and ends, or it opens the database. Then it passes messages of
 * the wire protocol between a client's `MessagePort` and PGlite. PGlite has a single session. A new connection therefore closes
 * the port of the previous connection and resets the session. Messages are processed in order, and the thread is blocked while
 * PGlite processes a message.
 */

const report = (message: Report) => parentPort?.postMessage(message);

/** The port of the client that connected last. */
let currentPort: MessagePort | undefined;

/** Connects a client, and disconnects the previous one. */
function connect(pglite: PGlite, port: MessagePort): void {
  currentPort?.close();
  currentPort = port;
  // The previous client may have left an open transaction, and prepared statements with the same names.
  for (const statement of ['rollback', 'discard all']) run(pglite, protocol.serialize.query(statement));
  port.on('message', (bytes: Uint8Array) => {
    const response = run(pglite, bytes);
    if (response.length > 0) port.postMessage(response, [response.buffer]);
  });
}

/** Passes a message to PostgreSQL. Returns the response in a buffer that can be transferred to another thread. */
function run(pglite: PGlite, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  // Not awaited: the function runs synchronously up to its first await, and the response is complete by then.
  void pglite.execProtocolRawStream(bytes, { syncToFs: false, onRawData: (chunk) => chunks.push(chunk.slice()) });
  const response = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    response.set(chunk, offset);
    offset += chunk.length;
  }
  return response;
}

/** Opens the database, and serves commands until it is closed. */
async function open(directory: string): Promise<void> {
  const pglite = await openCluster(directory);
  parentPort?.on('message', (command: Command) => {
    if (command.kind === 'connect') return connect(pglite, command.port);
    currentPort?.close();
    void pglite.close().then(() => process.exit());
  });
}

try {
  const { directory, create } = workerData as WorkerInput;
  await (create ? createCluster(directory) : open(directory));
  report({ kind: 'ready' });
} catch (error) {
  report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}
