import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';

/**
 * A connection to the embedded PostgreSQL over a MessagePort. pg uses it in place of a socket. Chunks that pg writes
 * together are sent as one message.
 */
export class EmbeddedConnection extends Duplex {
  readonly #open: () => MessagePort;
  #port: MessagePort | undefined;

  /** @param open opens a session and returns its port, or throws if PostgreSQL is unavailable */
  constructor(open: () => MessagePort) {
    super();
    this.#open = open;
  }

  /** Opens the session. pg calls this method and the next four, because it expects a `net.Socket`. */
  connect(): void {
    try {
      this.#port = this.#open();
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    this.#port.on('message', (bytes: Uint8Array<ArrayBuffer>) => this.push(Buffer.from(bytes.buffer)));
    process.nextTick(() => this.emit('connect'));
  }

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  override _read(): void {}

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    const bytes = new Uint8Array(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    this.#port?.postMessage(bytes, [bytes.buffer]);
    done();
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port?.close();
    done(error);
  }
}
