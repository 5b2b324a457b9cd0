import { connect, type Socket } from 'node:net';
import type { Target } from './attack.js';

/** Opens a connection for bytes that no HTTP client would send. It ends with the attack, and its errors count as closing. */
export function openSocket({ service, signal }: Target, { from }: { from: string }): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  socket.on('error', () => undefined);
  const destroy = () => socket.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
  return socket;
}
