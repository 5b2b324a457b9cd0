import { Counter, Gauge, type Registry } from 'prom-client';
import { securityEventCounts } from '../security/events.js';
import { hashQueue } from '../security/password-hashing.js';

/** Defines the metrics of password hashes and security events. */
export function defineSecurityMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'password_hashes',
    help: 'Argon2 hashes in progress and in the queue.',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'running' }, hashQueue.usage.running);
      this.set({ state: 'waiting' }, hashQueue.usage.waiting);
    },
  });
  new Counter({
    name: 'password_hashes_refused_total',
    help: 'Argon2 hashes that did not start: full (the queue was full, or the wait too long) or abandoned (the client disconnected first).',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      this.inc({ reason: 'full' }, hashQueue.usage.refused);
      this.inc({ reason: 'abandoned' }, hashQueue.usage.abandoned);
    },
  });
  new Counter({
    name: 'security_events_total',
    help: 'Security events logged.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      for (const [event, count] of securityEventCounts()) this.inc({ event }, count);
    },
  });
}
