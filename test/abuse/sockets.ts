import { connect, type Socket } from 'node:net';
import type { Target } from './attack.js';

/** Opens a raw connection. It is destroyed when the attack ends; errors only close it. */
export function openSocket({ service, signal }: Target, { from }: { from: string }): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  socket.on('error', () => undefined);
  const destroy = () => socket.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
  return socket;
}
