import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FuzzRequest } from './requests.js';
import { type RawResponse, readResponse } from './response.js';

const RESPONSE_TIMEOUT_MS = 20_000;
/** Long enough for the service to process what it has received. */
const PAUSE_MS = 20;
/** The silence after which `sendRaw` ends its side of the connection. */
const IDLE_MS = 150;
/** The silence after which it then destroys the connection. */
const CLOSE_TIMEOUT_MS = 3_000;

async function write(socket: Socket, { bytes, pauseAfter }: FuzzRequest): Promise<void> {
  socket.write(bytes.subarray(0, pauseAfter));
  if (pauseAfter === bytes.length) return;
  await sleep(PAUSE_MS);
  socket.write(bytes.subarray(pauseAfter));
}

class NoResponseError extends Error {
  readonly code = 'no_response';
}

/** A connection that sends one request at a time, and reconnects if it was closed. */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /**
   * Sends a complete request and returns its response.
   *
   * @throws NoResponseError
   * @throws MalformedResponseError
   */
  async send(request: FuzzRequest): Promise<RawResponse> {
    const reused = this.#socket !== undefined;
    try {
      return await this.#exchange(request);
    } catch (error) {
      // The server may close an idle connection while a request is being sent.
      if (!(error instanceof NoResponseError) || !reused) throw error;
      return this.#exchange(request);
    }
  }

  #exchange(request: FuzzRequest): Promise<RawResponse> {
    const socket = this.#socket ?? connect(this.#port, this.#host).setNoDelay();
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      let written = false;
      const finish = (keepAlive: boolean, settle: () => void) => {
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on('error', () => undefined);
        if (!keepAlive) {
          socket.destroy();
          this.#socket = undefined;
        }
        settle();
      };
      const timer = setTimeout(
        () => finish(false, () => reject(new NoResponseError(`no response in ${RESPONSE_TIMEOUT_MS} ms`))),
        RESPONSE_TIMEOUT_MS,
      );
      socket.on('data', (chunk) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        try {
          const response = readResponse(received, request.method);
          if (!response) return;
          const keepAlive =
            written && response.headers.get('connection') !== 'close' && response.end === received.length;
          finish(keepAlive, () => resolve(response));
        } catch (error) {
          finish(false, () => reject(error));
        }
      });
      socket.on('error', () => undefined);
      socket.once('close', () =>
        finish(false, () => reject(new NoResponseError('closed without a complete response'))),
      );
      void write(socket, request).then(() => {
        written = true;
      });
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** Sends bytes, which need not be valid HTTP, on a new connection, and returns all bytes received. */
export function sendRaw(url: string, request: FuzzRequest): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let halfClosed = false;
    let timer: NodeJS.Timeout | undefined;
    const restartTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          if (halfClosed) return socket.destroy();
          halfClosed = true;
          socket.end();
          restartTimer();
        },
        halfClosed ? CLOSE_TIMEOUT_MS : IDLE_MS,
      );
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      restartTimer();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    void write(socket, request);
    restartTimer();
  });
}
