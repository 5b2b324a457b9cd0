import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from '../../scripts/bench/statistics.js';
import { table } from '../../scripts/table.js';
import { secretsIn } from '../support/secrets.js';
import { claimGraphFor, freshStores, onServices } from '../support/stores.js';
import { rotateAddresses } from './addresses.js';
import {
  type Account,
  type Attack,
  currentAccount,
  type Figure,
  isWithinBound,
  type Measured,
  type Target,
} from './attack.js';
import { attacks } from './attacks/index.js';
import { Cleanup } from './cleanup.js';
import { send } from './client.js';

import { type Observation, observe, readEventLoopDelayMs } from './observe.js';
import { startAbusedService } from './service.js';
import { measureTiming } from './timing.js';

/*
 * Runs each attack against its own service, measures an honest client during the attack, and prints a table.
 *
 *   npm run test:abuse                     all attacks
 *   npm run test:abuse -- --quick          the same, shorter
 *   npm run test:abuse -- --only PATTERN   the attacks whose names match this regular expression
 *   npm run test:abuse -- --attempts 1     no second attempt after a failure
 *
 * An attack fails if a figure exceeds its bound. The exit code is then 1. The variables that select the stores of tests apply.
 */

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    attempts: { type: 'string', default: '2' },
  },
});
const only = new RegExp(values.only, 'i');

const ATTACK_TIMEOUT_MS = 60_000;
/** How long the honest client is measured before and after an attack. */
const MARGIN_MS = 500;
/** With 250 pairs, fewer than one run in a thousand fails by chance. */
const TIMING_PAIRS = { quick: 250, full: 500 };

/** One row of the table. */
interface Outcome {
  attack: string;
  measured?: Measured;
  figures: Figure[];
  skipped?: string;
}

/** Secrets found in logs, and the number of logs searched. */
const leaks: string[] = [];
let logsSearched = 0;

const hasFailed = ({ figures }: Outcome) => figures.some((figure) => !isWithinBound(figure));

async function runAttack(attack: Attack): Promise<Outcome> {
  if (attack.skip) return { attack: attack.name, figures: [], skipped: attack.skip };
  const cleanup = new Cleanup();
  const controller = new AbortController();
  // Every request of an attack adds a listener.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(), ATTACK_TIMEOUT_MS);
  try {
    const secrets = new Set<string>();
    const environment = { ...(await freshStores(cleanup)), ...attack.variables };
    // Tests on servers share one graph, which must be claimed before it is filled.
    if (attack.fill) await claimGraphFor(environment);
    await attack.fill?.(cleanup, environment, values.quick);
    const service = await startAbusedService(cleanup, environment, attack.start);
    const target = createTarget(cleanup, service, controller.signal, secrets);
    const accounts = { honest: await target.createAccount(), attacker: await target.createAccount() };
    const { honestRequests = [currentAccount(accounts.honest.token)], run } =
      'prepare' in attack ? await attack.prepare(target, accounts) : { run: () => attack.run(target, accounts) };
    const endObservation = await observe(cleanup, service, honestRequests);
    await sleep(MARGIN_MS);
    // Reading the metric resets it.
    await readEventLoopDelayMs(service);
    const attackFigures = await run();
    await sleep(MARGIN_MS);
    const observation = await endObservation();
    const measured = summarize(observation, honestRequests[0]?.name ?? '');
    measured.loopDelayMs = await readEventLoopDelayMs(service);
    measured.alive = service.alive();
    await service.stop();
    for (const secret of await readSigningKeys(environment)) secrets.add(secret);
    logsSearched += 1;
    for (const leak of await secretsIn(await readFile(service.logPath, 'utf8'), [...secrets]))
      leaks.push(`${attack.name}: ${leak}`);
    const figures = [
      { name: 'process died', value: Number(!measured.alive), atMost: 0 },
      { name: 'timed out', value: Number(controller.signal.aborted), atMost: 0 },
      ...attack.evaluate(measured, values.quick),
      ...attackFigures,
    ];
    return { attack: attack.name, measured, figures };
  } finally {
    clearTimeout(timer);
    controller.abort();
    await cleanup.run();
  }
}

function createTarget(cleanup: Cleanup, service: Target['service'], signal: AbortSignal, secrets: Set<string>): Target {
  const nextAddress = rotateAddresses(3, 10);
  const sendTo: Target['send'] = (method, path, options) =>
    send(service.url, method, path, { from: nextAddress(), ...options });
  const addSecrets = (...added: string[]) => {
    for (const secret of added) secrets.add(secret);
  };
  // Part of every password that the attacks guess.
  addSecrets('Guessed-Harbour');
  return {
    teardown: (teardown) => cleanup.teardown(teardown),
    service,
    quick: values.quick,
    signal,
    send: sendTo,
    async createAccount(): Promise<Account> {
      const username = `u${randomBytes(6).toString('hex')}`;
      const email = `${username}@people.example`;
      // With dots, since a password must not contain three equal characters in a row.
      const password = `Quiet-${randomBytes(3)
        .toString('hex')
        .replace(/(.)(?=.)/g, '$1.')}-Harbour!`;
      const registered = await sendTo('POST', '/auth/register', { json: { name: 'A', username, email, password } });
      if (registered.status !== 201) throw new Error(`Registration failed: ${registered.bytes}`);
      const { body } = await sendTo('POST', '/auth/login', { json: { email, password } });
      addSecrets(email, password, body.token, body.token.split('.')[2]);
      return { id: body.id, email, password, token: body.token };
    },
  };
}

/** Returns the signing keys of the service. */
async function readSigningKeys({ TOKEN_KEYS, DATA_DIR = '' }: NodeJS.ProcessEnv): Promise<string[]> {
  const path = join(DATA_DIR, 'token-keys');
  const keys = TOKEN_KEYS ?? (existsSync(path) ? await readFile(path, 'utf8') : '');
  return keys
    .split(/[\s,]+/)
    .flatMap((key) => key.split(':').slice(1))
    .filter((secret) => secret.length >= 16);
}

/** Returns the measurements so far, with the latencies of one request or, if it was never sent, of any other. */
function summarize(observation: Observation, requestName: string): Measured {
  const latencies = observation.latencies[requestName] ?? Object.values(observation.latencies)[0] ?? [];
  return {
    observation,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    max: percentile(latencies, 1),
    errors: Object.values(observation.errors).reduce((sum, count) => sum + count, 0),
    rssMiB: observation.rssBytes / 2 ** 20,
    openFiles: observation.openFiles,
    loopDelayMs: undefined,
    alive: true,
  };
}

const round = (value: number) =>
  value >= 10 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
const withUnit = ({ unit }: Figure, value: number) => `${round(value)}${unit ? ` ${unit}` : ''}`;

function rowOf(outcome: Outcome): Record<string, string> {
  const { attack, measured, figures, skipped } = outcome;
  const cell = (value: number | undefined) => (value === undefined ? '–' : round(value));
  return {
    attack,
    'p50 ms': cell(measured?.p50),
    'p99 ms': cell(measured?.p99),
    'max ms': cell(measured?.max),
    errors: measured ? formatErrors(measured) : '–',
    'RSS MiB': cell(measured?.rssMiB),
    fds: cell(measured?.openFiles || undefined),
    'loop ms': cell(measured?.loopDelayMs),
    figures: figures
      .filter(({ name, value, atMost }) => atMost === undefined || (value !== 0 && !FIGURES_WITH_COLUMN.has(name)))
      .map((figure) => `${figure.name} ${withUnit(figure, figure.value)}`)
      .join(', '),
    bounds: figures
      .filter(({ name, atMost }) => atMost !== undefined && !SHARED_BOUNDS.has(name))
      .map((figure) => `${figure.name} ≤ ${withUnit(figure, figure.atMost ?? 0)}`)
      .join(', '),
    verdict: skipped ? 'skipped' : hasFailed(outcome) ? 'FAILED' : 'passed',
  };
}

/** Figures with their own column. */
const FIGURES_WITH_COLUMN = new Set(['p50', 'p99', 'max', 'errors', 'RSS', 'loop delay']);
/** Bounds that all attacks share. */
const SHARED_BOUNDS = new Set(['process died', 'timed out', 'could not run']);

const formatErrors = ({ observation: { errors } }: Measured) =>
  Object.entries(errors)
    .map(([error, count]) => `${count} × ${error}`)
    .join(' ') || '0';

function describe(outcome: Outcome): string {
  if (outcome.skipped) return `skipped: ${outcome.skipped}`;
  const exceeding = outcome.figures.filter((figure) => !isWithinBound(figure));
  if (exceeding.length === 0) return 'passed';
  return `FAILED: ${exceeding.map((figure) => `${figure.name} ${withUnit(figure, figure.value)}, at most ${withUnit(figure, figure.atMost ?? 0)}`).join('; ')}`;
}

const outcomes: Outcome[] = [];

/** Runs an attack up to `--attempts` times, until it passes: a busy machine only makes figures worse. */
async function attempt(attack: string, title: string, run: () => Promise<Outcome>): Promise<void> {
  console.log(`${attack}: ${title}`);
  const runOnce = () =>
    run().catch((error): Outcome => {
      console.error(error);
      return { attack, figures: [{ name: 'could not run', value: 1, atMost: 0 }] };
    });
  let outcome = await runOnce();
  for (let number = 2; hasFailed(outcome) && number <= Number(values.attempts); number++) {
    console.log(`  ${describe(outcome)}; retrying`);
    outcome = await runOnce();
  }
  console.log(`  ${describe(outcome)}`);
  outcomes.push(outcome);
}

console.log(`Attacks on ${onServices ? 'real servers' : 'embedded stores'}, ${values.quick ? 'short' : 'full'} form.`);
for (const attack of attacks.filter(({ name }) => only.test(name))) {
  await attempt(attack.name, attack.title, () => runAttack(attack));
}
if (only.test('timing')) {
  const pairs = values.quick ? TIMING_PAIRS.quick : TIMING_PAIRS.full;
  await attempt('timing', 'response times of hidden and missing posts', async () => ({
    attack: 'timing',
    figures: [await measureTiming(pairs)],
  }));
}
if (logsSearched > 0) {
  outcomes.push({
    attack: 'secrets in logs',
    figures: [
      { name: 'secrets', value: leaks.length, atMost: 0 },
      { name: 'trace logs', value: logsSearched },
    ],
  });
  for (const leak of leaks) console.log(`secret in the log of ${leak}`);
}
if (outcomes.length === 0) {
  console.error(`No attack matches ${values.only}. Attacks: ${attacks.map(({ name }) => name).join(', ')}, timing.`);
  process.exit(1);
}

console.log(`\n${table(outcomes.map(rowOf))}`);
const failed = outcomes.filter(hasFailed);
console.log(`\n${outcomes.length - failed.length} passed or skipped, ${failed.length} failed.`);
process.exit(failed.length > 0 ? 1 : 0);
