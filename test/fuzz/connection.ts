import { connect, type Socket } from 'node:net';
import { type RawResponse, readResponse } from './response.js';

/** How long a response may take, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 20_000;
/** How long a request that may be incomplete is left without a response, and how long its connection may take to close. */
const SILENCE_MS = 150;
const CLOSE_TIMEOUT_MS = 3_000;

export class NoResponseError extends Error {
  readonly code = 'no_response';
}

/** A connection that sends one request after the other, and connects again when it has been closed. */
export class Connection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
  }

  /** Sends a complete request and returns its response. */
  async send(bytes: Buffer, method: string): Promise<RawResponse> {
    const reused = this.#socket !== undefined;
    try {
      return await this.#exchange(bytes, method);
    } catch (error) {
      // A kept connection may be closed at the very moment it is used.
      if (!(error instanceof NoResponseError) || !reused) throw error;
      return this.#exchange(bytes, method);
    }
  }

  #exchange(bytes: Buffer, method: string): Promise<RawResponse> {
    const socket = this.#socket ?? connect(this.#port, this.#host).setNoDelay();
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      const finish = (keep: boolean, settle: () => void) => {
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on('error', () => undefined);
        if (!keep) {
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
          const keep = response.headers.get('connection') !== 'close' && response.end === received.length;
          finish(keep, () => resolve(response));
        } catch (error) {
          finish(false, () => reject(error));
        }
      });
      socket.on('error', () => undefined);
      socket.once('close', () => finish(false, () => reject(new NoResponseError('closed without a whole response'))));
      socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** Sends bytes that may be no HTTP at all, on a connection of their own, and returns everything that comes back. */
export function sendRaw(url: string, bytes: Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let ended = false;
    let timer: NodeJS.Timeout | undefined;
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          if (ended) return socket.destroy();
          ended = true;
          socket.end();
          wait();
        },
        ended ? CLOSE_TIMEOUT_MS : SILENCE_MS,
      );
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      wait();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.write(bytes);
    wait();
  });
}
