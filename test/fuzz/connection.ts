import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FuzzRequest } from './requests.js';
import { MalformedResponseError, type RawResponse, readResponse } from './response.js';

const RESPONSE_TIMEOUT_MS = 20_000;
/** Long enough for the service to process what it has received. */
const PAUSE_MS = 20;
/** The time without data after which `sendRaw` ends its side of the connection. */
const IDLE_MS = 150;
/** The further time without data after which it destroys the connection. */
const CLOSE_TIMEOUT_MS = 3_000;

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname)
    .setNoDelay()
    .on('error', () => undefined);
}

async function write(socket: Socket, { bytes, pauseAfter }: FuzzRequest): Promise<void> {
  socket.write(bytes.subarray(0, pauseAfter));
  if (pauseAfter === bytes.length) return;
  await sleep(PAUSE_MS);
  socket.write(bytes.subarray(pauseAfter));
}

/** A connection that sends one request at a time, and reconnects if it was closed. */
export class Connection {
  #socket: Socket | undefined;

  constructor(readonly url: string) {}

  /** Sends a complete request and returns its response. Throws if there is none, or if it is malformed. */
  async send(request: FuzzRequest): Promise<RawResponse> {
    const reused = this.#socket !== undefined;
    try {
      return await this.#exchange(request);
    } catch (error) {
      this.close();
      // The server may close an idle connection while a request is being sent.
      if (!reused || error instanceof MalformedResponseError) throw error;
      return this.send(request);
    }
  }

  async #exchange(request: FuzzRequest): Promise<RawResponse> {
    this.#socket ??= openSocket(this.url).setTimeout(RESPONSE_TIMEOUT_MS);
    const socket = this.#socket;
    const onTimeout = () => socket.destroy(new Error(`no response in ${RESPONSE_TIMEOUT_MS} ms`));
    socket.once('timeout', onTimeout);
    let written = false;
    void write(socket, request).then(() => {
      written = true;
    });
    let received = Buffer.alloc(0);
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      received = Buffer.concat([received, chunk]);
      const response = readResponse(received, request.method);
      if (!response) continue;
      socket.off('timeout', onTimeout);
      const isClosing = response.headers.get('connection') === 'close';
      // The connection cannot be reused: bytes of this request would follow, or bytes of the response are left.
      if (!written || isClosing || response.end !== received.length) this.close();
      return response;
    }
    throw new Error('closed without a complete response');
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** Sends bytes, which need not be valid HTTP, on a new connection, and returns all bytes received. */
export async function sendRaw(url: string, request: FuzzRequest): Promise<Buffer> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.setTimeout(IDLE_MS, () => {
    socket.end();
    socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
  });
  void write(socket, request);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(chunks);
}
