import { connect, type Socket } from 'node:net';
import { ATTACKER } from './addresses.js';
import type { Target } from './attack.js';

/** Opens a raw connection from the attacker's address. It is destroyed when the signal aborts, and errors only close it. */
export function openSocket({ service, signal }: Pick<Target, 'service' | 'signal'>): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER });
  socket.on('error', () => undefined);
  const destroy = () => socket.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', destroy));
  return socket;
}

export const rawGet = (path: string, headers: Record<string, string> = {}): string => {
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};
