import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import t, { type Test } from 'tap';
import { secretsIn } from '../support/secrets.js';
import { claimGraphFor, freshStores } from '../support/stores.js';
import { PASSWORD, registerWith } from '../support/users.js';
import { type Attack, GUESSED_PASSWORD, type Target } from './attack.js';
import { attacks } from './attacks/index.js';
import { rotateAddresses, send as sendTo } from './client.js';
import { describe, errorCount, isWithinBound, type Measurement } from './measurements.js';
import { currentAccount, observe } from './observe.js';
import { startAttackedService } from './service.js';

/*
 * Runs each attack against its own service, measures an honest client during the attack, and compares the measurements with
 * their bounds. The variables that select the stores of tests apply.
 *
 *   npm test -- test/abuse                       all attacks
 *   npm test -- test/abuse --test-arg=--quick    the same, shorter
 *   npm test -- test/abuse --grep=NAME           some attacks
 */

t.setTimeout(0);

const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values;

const ATTACK_TIMEOUT_MS = 120_000;

async function runAttack(t: Test, attack: Attack): Promise<Measurement[]> {
  const signingKey = randomBytes(32).toString('hex');
  const environment = { ...(await freshStores(t)), TOKEN_KEYS: `abuse:${signingKey}`, ...attack.variables };
  // Tests on servers share one graph.
  await claimGraphFor(environment);
  await attack.fill?.(t, environment, quick);
  const service = await startAttackedService(t, environment);
  const nextAddress = rotateAddresses(3, 10);
  const send: Target['send'] = (method, path, options) =>
    sendTo(service.url, method, path, { localAddress: nextAddress(), ...options });
  const [honest, attacker] = [await registerWith(send), await registerWith(send)];
  const timeout = AbortSignal.timeout(ATTACK_TIMEOUT_MS);
  const ended = new AbortController();
  const signal = AbortSignal.any([timeout, ended.signal]);
  // Every request of an attack adds a listener.
  setMaxListeners(0, signal);
  const target: Target = { service, quick, signal, honest, attacker, send };
  const endObservation = await observe(t, service, (await attack.honestRequests?.(target)) ?? [currentAccount(honest)]);
  const measurements: Measurement[] = [];
  try {
    measurements.push(...(await attack.run(target).finally(() => ended.abort())));
    const observation = await endObservation();
    measurements.push(...attack.measurements(observation, target), errorCount(observation));
  } finally {
    measurements.push({ name: 'process died', value: Number(!service.isRunning()), atMost: 0 });
    // Also after a failed attack, because the service would slow down the repetition.
    await service.kill();
  }
  const secretsOfUsers = [honest, attacker].flatMap(({ email, token }) => [email, token.split('.')[2] ?? '']);
  const secrets = [PASSWORD, GUESSED_PASSWORD, signingKey, ...secretsOfUsers];
  t.same(secretsIn(await service.log(), secrets), [], 'the log contains no secrets');
  return [...measurements, { name: 'timed out', value: Number(timeout.aborted), atMost: 0 }];
}

for (const [name, attack] of Object.entries(attacks)) {
  t.test(`${name}: ${attack.title}`, { skip: attack.skip ?? false }, async (t) => {
    let measurements = await runAttack(t, attack).catch((error): Measurement[] => [
      { name: `could not be run: ${error}`, value: 1, atMost: 0 },
    ]);
    const exceeding = measurements.filter((measurement) => !isWithinBound(measurement));
    if (exceeding.length > 0) {
      // One run within the bounds is enough, because a busy machine only makes measurements worse.
      t.comment(`Repeated, because of ${exceeding.map(describe).join('; ')}`);
      measurements = await runAttack(t, attack);
    }
    for (const measurement of measurements) t.ok(isWithinBound(measurement), describe(measurement));
  });
}
