import { randomUUID } from 'node:crypto';
import type { Log } from '../support/log.js';
import * as cypher from './cypher.js';
import type { LikesOfPost, RequestOutcome, SocialGraph } from './index.js';
import { connectNeo4j, type Neo4jOptions, type Run } from './neo4j-session.js';
import { ensureNodes, idsOf, inOrder } from './neo4j-shared.js';
import { neo4jSnapshot } from './neo4j-snapshot.js';
import { warmUpNeo4j } from './neo4j-warm-up.js';

export type { Neo4jOptions };

/** The deadline of a migration, or of a look at all there is, in milliseconds. */
const MAINTENANCE_TIMEOUT_MS = 10 * 60 * 1000;

/** After how many deadlines the mark of an attempt is of no use. */
const ATTEMPT_MAX_AGE_TIMEOUTS = 30;

/** How many ties one transaction removes. */
const EDGES_PER_TRANSACTION = 10_000;

/** Up to so many likers of a post are looked through; of a post that has more, each person is looked for among them. */
const MAX_LIKERS_SCANNED = 1000;

/** The graph in Neo4j. What it says there is in `cypher.ts`. */
export function openNeo4j(options: Neo4jOptions, log: Log): SocialGraph {
  const patient = connectNeo4j({ ...options, poolSize: 2 }, log, MAINTENANCE_TIMEOUT_MS);
  const warmUp = () => warmUpNeo4j(patient.rehearse);
  const { read, write, maxCommitDelayMs, close } = connectNeo4j(options, log, options.timeout, warmUp);

  async function change(statement: string, parameters: object): Promise<void> {
    await write((run) => run(statement, parameters));
  }

  /**
   * Takes two people from one state to the next, and nobody else does meanwhile. Should the answer get lost, the next try
   * finds the mark that the one before it has left, and so knows its own work.
   */
  async function transition<Outcome>(
    people: readonly number[],
    done: Outcome,
    step: (run: Run) => Promise<Outcome>,
  ): Promise<Outcome> {
    const attempt = randomUUID();
    const outcome = await write(async (run) => {
      await run(cypher.LOCK_PEOPLE, { people: people.toSorted((a, b) => a - b) });
      const [earlier] = await run(cypher.FIND_ATTEMPT, { attempt });
      if (earlier) return done;
      const reached = await step(run);
      if (reached === done) await run(cypher.MARK_ATTEMPT, { attempt });
      return reached;
    });
    if (outcome === done) forgetAttempts(attempt).catch(() => undefined);
    return outcome;
  }

  /** True when there was something to change. */
  const changePair = (statement: string, from: number, to: number) =>
    transition([from, to], true, async (run) => (await run(statement, { from, to })).length > 0);

  /** This one, and those for which no next try can come any more. */
  async function forgetAttempts(attempt: string | null): Promise<void> {
    await change(cypher.FORGET_ATTEMPTS, { attempt, age: ATTEMPT_MAX_AGE_TIMEOUTS * options.timeout });
  }

  /** A statement that removes up to `limit` ties and tells how many, until it finds less. */
  async function removeTies(statement: string, id: number): Promise<void> {
    let removed = EDGES_PER_TRANSACTION;
    while (removed === EDGES_PER_TRANSACTION) {
      const [row] = await write((run) => run<{ removed: number }>(statement, { id, limit: EDGES_PER_TRANSACTION }));
      removed = row?.removed ?? 0;
    }
  }

  const graph: SocialGraph = {
    kind: 'neo4j',
    maxCommitDelayMs,
    within: () => graph,

    async relationsBetween(people, others, posts) {
      const nothing = { friendships: [], found: [] };
      const asksFriends = people.length > 0 && others.length > 0;
      if (!asksFriends && posts.length === 0) return { friendships: [], likes: new Map() };
      const fewPeople = people.length <= others.length;
      const [row = nothing] = await read<FoundTies>(cypher.RELATIONS_BETWEEN, {
        people,
        others,
        fewPeople,
        posts,
        few: MAX_LIKERS_SCANNED,
      });
      const likes = new Map<number, LikesOfPost>(row.found.map(([id, count, likers]) => [id, { count, likers }]));
      const popular = row.found.flatMap(([id, count]) => (count > MAX_LIKERS_SCANNED ? [id] : []));
      if (popular.length > 0 && people.length > 0) {
        const rows = await read<{ id: number; likers: number[] }>(cypher.LIKERS_AMONG, { posts: popular, people });
        for (const { id, likers } of rows) likes.set(id, { count: likes.get(id)?.count ?? 0, likers });
      }
      return { friendships: row.friendships.map(([person, friend]) => ({ person, friend })), likes };
    },

    friendsOf: async (person) => (await graph.friendsOfEach([person]))[0] ?? [],

    async friendsOfEach(people) {
      const rows = await read<{ person: number; friends: number[] }>(cypher.FRIENDS_OF_EACH, { people });
      const friendsOf = new Map(rows.map(({ person, friends }) => [person, friends]));
      return people.map((person) => friendsOf.get(person) ?? []);
    },

    requestersOf: async (person) => idsOf(await read(cypher.REQUESTERS_OF, { person })),

    async like(likes) {
      if (likes.length > 0) await change(cypher.LIKE, { likes: inOrder(likes) });
    },
    async unlike(likes) {
      if (likes.length > 0) await change(cypher.UNLIKE, { likes: inOrder(likes), keep: 0 });
    },

    request: (from, to) =>
      transition<RequestOutcome>([from, to], 'sent', async (run) => {
        const [there] = await run<{ outcome: RequestOutcome }>(cypher.OBSTACLE, { from, to });
        if (there) return there.outcome;
        await run(cypher.REQUEST, { requests: [{ from, to }] });
        return 'sent';
      }),

    accept: (by, from) => changePair(cypher.ACCEPT, from, by),
    decline: (by, from) => changePair(cypher.END_REQUEST, from, by),
    cancel: (by, to) => changePair(cypher.END_REQUEST, by, to),
    unfriend: (by, friend) => changePair(cypher.UNFRIEND, by, friend),

    ensureNodes: (nodes) => write(ensureNodes(nodes)),

    async removePerson(id) {
      await removeTies(cypher.REMOVE_EDGES_OF_PERSON, id);
      await change(cypher.REMOVE_PERSON, { id });
    },

    async removePost(id) {
      await removeTies(cypher.REMOVE_EDGES_OF_POST, id);
      await change(cypher.REMOVE_POST, { id });
    },

    snapshot: neo4jSnapshot(patient),

    async claimedBy() {
      const [installation] = await read<{ id: string }>(cypher.READ_CLAIM);
      return installation?.id;
    },
    // Of two that mark it at once the first has it: there is only one of rank 1.
    claim: (installation, instead = installation) => change(cypher.CLAIM, { installation, instead }),
    release: () => change(cypher.RELEASE, {}),

    async highestIds() {
      const [[person], [post]] = await Promise.all([
        read<{ id: number }>(cypher.HIGHEST_PERSON),
        read<{ id: number }>(cypher.HIGHEST_POST),
      ]);
      return { person: person?.id ?? 0, post: post?.id ?? 0 };
    },

    async migrate() {
      // Within the usual deadline, so that a server that is not there is soon found out.
      await forgetAttempts(null);
      for (const constraint of cypher.CONSTRAINTS) await patient.write((run) => run(constraint));
      await patient.read(cypher.AWAIT_INDEXES, { seconds: MAINTENANCE_TIMEOUT_MS / 1000 });
    },

    warmUp,

    async close() {
      await Promise.all([close(), patient.close()]);
    },
  };
  return graph;
}

interface FoundTies {
  friendships: [person: number, friend: number][];
  found: [post: number, count: number, likers: number[]][];
}
