import fc from 'fast-check';
import t from 'tap';
import type { OperationId } from '../../generated/types.js';
import { expectNoLeftovers } from '../support/consistency.js';
import type { Fault } from '../support/proxy.js';
import { accounts } from './accounts.js';
import { PROCESSES, ServiceFixture, STORES } from './fixture.js';
import { friends } from './friends.js';
import { Model } from './model.js';
import { posts } from './posts.js';
import { readAll } from './quiescent-checks.js';
import { type Actor, type ModelOperation, Step } from './step.js';

/*
 * Model-based test: concurrent actors send random operations, to two processes if the stores are real servers, while
 * processes are killed and stores fail. Every response is checked against a model of the contract.
 *
 * Restrictions keep the model simple. Every account has one actor, which sends one request at a time, and keeps its name and
 * its email address. A relation of two users has one change at a time.
 *
 * After a write without a response, or with a 503, the old and the new value are possible. The value is not written again in
 * this round. At the end of the round, after the stores have recovered, it is read. A write to the graph may be committed even
 * later, so its value stays uncertain for the maximum commit delay. A read may return any value that was possible between its
 * request and its response.
 *
 *   SEED=7                  the seed, printed at the start. MODEL_PATH, printed on failure, repeats the failed scenario alone.
 *                           The order of concurrent requests is not reproducible.
 *   MODEL_STEPS=600         the approximate number of operations
 *
 * About ten minutes:
 *
 *   MODEL_STEPS=40000 npm test -- test/model
 */

t.setTimeout(0);

const { SEED = Date.now() % 1_000_000, MODEL_STEPS = 600, MODEL_PATH } = process.env;

const ACTORS = 8;
const MAX_ROUNDS = 4;
const MAX_STEPS = 120;

const operations = { ...accounts, ...posts, ...friends } satisfies Partial<Record<OperationId, ModelOperation>>;

type ModeledOperation = keyof typeof operations;

/** Relative frequencies; the default is 1. */
const weights: Partial<Record<ModeledOperation, number>> = {
  createPost: 5,
  updateProfile: 5,
  editPost: 3,
  likePost: 4,
  listPosts: 3,
  sendFriendRequest: 4,
  acceptFriendRequest: 6,
  getPostImage: 2,
};
const weightedOperations = (Object.keys(operations) as ModeledOperation[]).flatMap((id) =>
  Array<ModeledOperation>(weights[id] ?? 1).fill(id),
);

const plannedStep = fc.record({
  actor: fc.nat(ACTORS - 1),
  operation: fc.constantFrom(...weightedOperations),
  seed: fc.integer(),
});
/** The kill and the fault of a round are each null in one of this many rounds. */
const NULL_FREQUENCY = { freq: 3 };
/** A kill or fault happens when this many steps of the round have begun. */
const after = fc.integer({ min: 1, max: MAX_STEPS / 4 });
const kill = fc.record({ after, process: fc.nat(PROCESSES - 1) });
const faultOrNull =
  STORES.length === 0
    ? fc.constant(null)
    : fc.option(
        fc.record({
          after,
          store: fc.constantFrom(...STORES),
          fault: fc.oneof(
            fc.constantFrom<Fault>('silence', 'lose-responses', 'reset', 'refuse'),
            fc.record({ latencyMs: fc.integer({ min: 20, max: 400 }) }),
          ),
        }),
        NULL_FREQUENCY,
      );
const round = fc.record({
  steps: fc.array(plannedStep, { maxLength: MAX_STEPS, size: 'max' }),
  kill: fc.option(kill, NULL_FREQUENCY),
  fault: faultOrNull,
});
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;
const scenario = fc.array(round, { minLength: 1, maxLength: MAX_ROUNDS, size: 'max' });

const fixture = await ServiceFixture.open(t);
let stepCount = 0;
const missingOperations = () =>
  (Object.keys(operations) as ModeledOperation[]).filter((id) => !fixture.executed.has(id));

async function runScenario(rounds: readonly Round[]): Promise<void> {
  // Runs until every operation was executed, but at most three times the requested number of steps.
  const isEnough = stepCount >= Number(MODEL_STEPS) && missingOperations().length === 0;
  if (isEnough || stepCount >= 3 * Number(MODEL_STEPS)) return;
  fixture.logLines = [];
  const model = new Model();
  const actors = Array.from({ length: ACTORS }, (): Actor => ({ user: model.addUser() }));
  for (const { steps, kill, fault } of rounds) {
    let begun = 0;
    let failed = false;
    const runSteps = async (actor: Actor, plannedSteps: Round['steps']) => {
      for (const { operation, seed } of plannedSteps) {
        if (failed || !(await ensureSession(model, actor, seed))) return;
        begun += 1;
        stepCount += 1;
        if (kill?.after === begun) fixture.kill(kill.process);
        if (fault?.after === begun) await fixture.injectFault(fault.store, fault.fault);
        await operations[operation](new Step(model, actor, operation, seed, fixture));
      }
    };
    const runs = actors.map(async (actor, index) => {
      await runSteps(
        actor,
        steps.filter((step) => step.actor === index),
      ).catch((error) => {
        failed = true;
        throw error;
      });
    });
    const outcomes = await Promise.allSettled(runs);
    await fixture.recover();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    await readAll(model, fixture);
  }
}

/** Registers and logs in if needed. Returns false if it is unknown whether the actor has a session. */
async function ensureSession(model: Model, actor: Actor, seed: number): Promise<boolean> {
  const step = (operation: OperationId) => new Step(model, actor, operation, seed, fixture);
  const { profile, id } = actor.user;
  // An actor whose account was deleted continues as a new user.
  if (profile.known === null && id !== undefined) actor.user = model.addUser();
  if (actor.user.profile.known === null) await operations.register(step('register'));
  if (actor.user.profile.known && !step('login').token()) await operations.login(step('login'));
  return step('login').token() !== undefined;
}

t.test('every response is possible according to the model, despite concurrency, kills and faults', async (t) => {
  t.comment(`SEED=${SEED}`);
  const details = await fc.check(fc.asyncProperty(scenario, runScenario), {
    seed: Number(SEED),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
    // More than needed: a scenario has 150 steps on average.
    numRuns: Math.ceil(Number(MODEL_STEPS) / 30),
    unbiased: true,
    endOnFailure: true,
    includeErrorInReport: true,
  });
  if (details.failed) {
    t.fail(String(details.errorInstance), {
      replay: `SEED=${SEED} MODEL_PATH=${details.counterexamplePath}`,
      logLinesNewestFirst: fixture.logLines.slice(-120).reverse(),
    });
  } else if (MODEL_PATH === undefined) t.same(missingOperations(), [], 'every modeled operation was run');
});

t.test('no store has leftovers at the end', async (t) => {
  await fixture.stop();
  await expectNoLeftovers(t, fixture.directEnvironment);
});
