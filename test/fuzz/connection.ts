import { once } from 'node:events';
import { request as createRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Duplex, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { readHeaders } from '../../scripts/contract-test/client/index.js';
import { type TestResponse, toTestResponse } from '../support/requests.js';
import type { FuzzRequest } from './requests.js';

const RESPONSE_TIMEOUT_MS = 20_000;
/** Long enough for the service to process what it has received. */
const PAUSE_MS = 20;
/** The time without data after which `sendRaw` ends its side of the connection. */
const IDLE_MS = 150;
/** The further time without data after which it destroys the connection. */
const CLOSE_TIMEOUT_MS = 3_000;

/** Opens a connection, and sends the bytes of a request with its pause. */
function openAndWrite(url: string, { bytes, pauseAfter }: FuzzRequest): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname)
    .setNoDelay()
    .on('error', () => undefined);
  socket.write(bytes.subarray(0, pauseAfter));
  if (pauseAfter < bytes.length) void sleep(PAUSE_MS).then(() => socket.write(bytes.subarray(pauseAfter)));
  return socket;
}

/** Sends a complete request. Returns the response, or throws an error if there is no valid response. */
export async function sendComplete(url: string, request: FuzzRequest): Promise<TestResponse> {
  const socket = openAndWrite(url, request);
  // Node's client only parses the response: what it writes itself is discarded.
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const client = createRequest({
    method: request.method,
    createConnection: () => Duplex.from({ readable: socket, writable: discard }),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  });
  // Without a listener, an error after the head of the response would be uncaught. Reading the response throws it.
  client.on('error', () => undefined);
  try {
    const [response] = (await once(client.end(), 'response')) as [IncomingMessage];
    const [status, headers, bytes] = [response.statusCode ?? 0, readHeaders(response), await buffer(response)];
    // Only the document and the explorer are compressed. They are not parsed.
    return headers.has('content-encoding')
      ? { status, headers, bytes, body: undefined }
      : toTestResponse(status, headers, bytes);
  } finally {
    // A reset, since a long run would otherwise use up the ports: closed connections keep theirs for a minute.
    socket.resetAndDestroy();
  }
}

/** Sends bytes, which need not be valid HTTP, on a new connection, and returns all bytes received. */
export async function sendRaw(url: string, request: FuzzRequest): Promise<Buffer> {
  const socket = openAndWrite(url, request);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.setTimeout(IDLE_MS, () => {
    socket.end();
    socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks);
}
