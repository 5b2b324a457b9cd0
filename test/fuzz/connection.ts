import { connect, type Socket } from 'node:net';
import { type RawResponse, readResponse } from './response.js';

const RESPONSE_TIMEOUT_MS = 20_000;
/** The silence after which `sendRaw` ends its side of the connection. */
const IDLE_MS = 150;
/** The silence after which it then destroys the connection. */
const CLOSE_TIMEOUT_MS = 3_000;

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
  async send(bytes: Buffer, method: string): Promise<RawResponse> {
    const reused = this.#socket !== undefined;
    try {
      return await this.#exchange(bytes, method);
    } catch (error) {
      // The server may close an idle connection while a request is being sent.
      if (!(error instanceof NoResponseError) || !reused) throw error;
      return this.#exchange(bytes, method);
    }
  }

  #exchange(bytes: Buffer, method: string): Promise<RawResponse> {
    const socket = this.#socket ?? connect(this.#port, this.#host).setNoDelay();
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
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
          const response = readResponse(received, method);
          if (!response) return;
          const keepAlive = response.headers.get('connection') !== 'close' && response.end === received.length;
          finish(keepAlive, () => resolve(response));
        } catch (error) {
          finish(false, () => reject(error));
        }
      });
      socket.on('error', () => undefined);
      socket.once('close', () =>
        finish(false, () => reject(new NoResponseError('closed without a complete response'))),
      );
      socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** Sends bytes, which need not be valid HTTP, on a new connection, and returns all bytes received. */
export function sendRaw(url: string, bytes: Buffer): Promise<Buffer> {
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
    socket.write(bytes);
    restartTimer();
  });
}
