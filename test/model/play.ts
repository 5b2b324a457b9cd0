import fc from 'fast-check';
import t from 'tap';
import type { OperationId } from '../../generated/types.js';
import { contract } from '../../scripts/contract-test/document.js';
import { leavesNothing } from '../support/remains.js';
import { accounts } from './accounts.js';
import { friends } from './friends.js';
import { posts } from './posts.js';
import { readAll } from './quiet.js';
import { type Fault, LiveStage, PROCESSES, STORES } from './stage.js';
import { type Client, type Operation, Turn } from './turn.js';
import { freshName, World } from './world.js';

/*
 * Many clients at once do what they like, on two processes where the stores are real servers, while processes are killed and
 * stores fail. Every answer is held against a model of what the contract says there is.
 *
 * How the model stays simple: every account has one client, which asks one thing after the other, so that what belongs to
 * one person has one writer; a tie between two people takes one step at a time. A write without an answer, or with a 503,
 * leaves its cell open: both values are possible, nobody writes there, until at the end of the round, when all stores answer
 * again, it is read. A write to the graph may still come later than that, and its cell stays open for as long as it may.
 * A read may see whatever was possible at some time between its question and its answer.
 *
 *   SEED=7                  what is played; printed at the start. MODEL_PATH, printed at a failure, plays its scene alone,
 *                           and MODEL_SHRINK=1 looks for a smaller one. Who comes first among the clients is up to the machine.
 *   MODEL_STEPS=600         how many operations are played, about
 *   MODEL_KILLS=60          of how many rounds in a hundred a process is killed in, and a store fails in: MODEL_FAULTS
 *
 * For ten minutes or so:
 *
 *   MODEL_STEPS=40000 npm run test:model
 */

t.setTimeout(0);

const { SEED = Date.now() % 1_000_000, MODEL_PATH, MODEL_SHRINK } = process.env;
const { MODEL_STEPS = 600, MODEL_KILLS = 60, MODEL_FAULTS = 60 } = process.env;

const CLIENTS = 8;
const ROUNDS = 4;
const STEPS = 120;

/** How many steps a scene has on average: from 1 to ROUNDS rounds, each with up to STEPS. */
const USUAL = ((ROUNDS + 1) / 2) * (STEPS / 2);

const operations = { ...accounts, ...posts, ...friends } satisfies Partial<Record<OperationId, Operation>>;

type Played = keyof typeof operations;

/** How often one is played for each time that another is. */
const weights: Partial<Record<Played, number>> = {
  createPost: 5,
  updateProfile: 5,
  editPost: 3,
  likePost: 4,
  listPosts: 3,
  sendFriendRequest: 4,
  acceptFriendRequest: 6,
  getPostImage: 2,
};
const bag = (Object.keys(operations) as Played[]).flatMap((id) => Array<Played>(weights[id] ?? 1).fill(id));

interface Step {
  client: number;
  operation: Played;
  seed: number;
}

/** What befalls the stage once so many steps have begun. */
type Disturbance = { after: number } & (
  | { kind: 'kill'; process: number }
  | { kind: 'fault'; store: number; fault: Fault; milliseconds: number }
);

interface Round {
  steps: Step[];
  disturbances: Disturbance[];
}

const step = fc.record({ client: fc.nat(CLIENTS - 1), operation: fc.constantFrom(...bag), seed: fc.integer() });
const after = fc.nat(STEPS / 4);
const kill = fc.record({ kind: fc.constant('kill' as const), after, process: fc.nat(PROCESSES - 1) });
const fault = fc.record({
  kind: fc.constant('fault' as const),
  after,
  store: fc.nat(Math.max(0, STORES.length - 1)),
  fault: fc.constantFrom<Fault>('silence', 'loseAnswers', 'latency', 'reset', 'refuse'),
  milliseconds: fc.integer({ min: 20, max: 400 }),
});
const often = <Value>(percent: number, arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> =>
  fc.nat(99).chain((chance) => (chance < percent ? arbitrary.map((value) => [value]) : fc.constant<Value[]>([])));
const round: fc.Arbitrary<Round> = fc.record({
  steps: fc.array(step, { maxLength: STEPS, size: 'max' }),
  disturbances: fc
    .tuple(often(Number(MODEL_KILLS), kill), often(STORES.length > 0 ? Number(MODEL_FAULTS) : 0, fault))
    .map(([kills, faults]) => [...kills, ...faults]),
});
const scene = fc.array(round, { minLength: 1, maxLength: ROUNDS, size: 'max' });

const stage = await LiveStage.open(t);

async function play(rounds: readonly Round[]): Promise<void> {
  const { steps } = stage.tally;
  const enough = steps >= Number(MODEL_STEPS) && stage.plays.size === contract.length;
  if (enough || steps >= 3 * Number(MODEL_STEPS)) return;
  stage.notes = [];
  const world = new World(freshName());
  const clients = Array.from({ length: CLIENTS }, (): Client => ({ person: world.addPerson(null) }));
  for (const { steps, disturbances } of rounds) {
    let begun = 0;
    let failed = false;
    const act = async (client: Client, own: readonly Step[]) => {
      for (const { operation, seed } of own) {
        if (failed || !(await canAct(world, client, seed))) return;
        begun += 1;
        stage.tally.steps += 1;
        for (const disturbance of disturbances) if (disturbance.after === begun) await disturb(disturbance);
        await operations[operation](new Turn(world, client, operation, seed, stage));
      }
    };
    const acts = clients.map(async (client, index) => {
      await act(
        client,
        steps.filter((step) => step.client === index),
      ).catch((error) => {
        failed = true;
        throw error;
      });
    });
    const outcomes = await Promise.allSettled(acts);
    await stage.settle();
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    await readAll(world, stage);
  }
}

/** Sees to it that the client has an account and a session. False when nobody knows whether it has. */
async function canAct(world: World, client: Client, seed: number): Promise<boolean> {
  const turn = (operation: OperationId) => new Turn(world, client, operation, seed, stage);
  const { profile, id } = client.person;
  // Whoever has left comes back as somebody else.
  if (profile.known === null && id !== undefined) client.person = world.addPerson(null);
  if (client.person.profile.known === null) await operations.register(turn('register'));
  if (client.person.profile.known && !turn('login').token()) await operations.login(turn('login'));
  return turn('login').token() !== undefined;
}

async function disturb(disturbance: Disturbance): Promise<void> {
  if (disturbance.kind === 'kill') return stage.kill(disturbance.process);
  const store = STORES[disturbance.store];
  if (store) await stage.strike(store, disturbance.fault, disturbance.milliseconds);
}

t.test('whatever is done at once and goes wrong, every answer is what the contract says', async (t) => {
  t.comment(`SEED=${SEED}`);
  const details = await fc.check(fc.asyncProperty(scene, play), {
    seed: Number(SEED),
    ...(MODEL_PATH !== undefined && { path: MODEL_PATH }),
    numRuns: Math.ceil((4 * Number(MODEL_STEPS)) / USUAL),
    unbiased: true,
    endOnFailure: MODEL_SHRINK === undefined,
    includeErrorInReport: true,
  });
  t.comment(JSON.stringify(stage.tally));
  const never = contract.map(({ id }) => id).filter((id) => !stage.plays.has(id as OperationId));
  if (details.failed) {
    t.fail(String(details.errorInstance), {
      replay: `SEED=${SEED} MODEL_PATH=${details.counterexamplePath}`,
      scene: JSON.stringify(details.counterexample).slice(0, 5000),
      notes: stage.notes.slice(-120),
    });
  } else if (MODEL_PATH === undefined) t.same(never, [], 'every operation has been played');
});

t.test('in the end, nothing is left over in any store', async (t) => {
  await stage.stop();
  await leavesNothing(t, stage.direct);
});
