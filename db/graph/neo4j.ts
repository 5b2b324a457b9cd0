import { Neo4jError } from 'neo4j-driver';
import type { Log } from '../support/log.js';
import * as cypher from './cypher.js';
import {
  type BulkAccess,
  type Edges,
  type Like,
  type LikesOfPost,
  MAX_EDGES_PER_REMOVAL,
  type Nodes,
  type RequestOutcome,
  type SocialGraph,
} from './index.js';
import { connectNeo4j, type Neo4jConnection, type Neo4jOptions, type Run } from './neo4j-connection.js';
import { warmUpNeo4j } from './neo4j-warm-up.js';

/** The timeout of one call during a migration, a verification or a move. */
const MAINTENANCE_TIMEOUT_MS = 10 * 60 * 1000;

/** All likers of a post are scanned if there are at most this many. Otherwise, each queried person is looked up. */
const MAX_LIKERS_SCANNED = 1000;

const INDEX_EXISTS = 'Neo.ClientError.Schema.IndexWithNameAlreadyExists';

/** Opens the graph in Neo4j. Its statements are in `cypher.ts`. */
export function openNeo4j(options: Neo4jOptions, log: Log): SocialGraph {
  const maintenance = connectNeo4j({ ...options, poolSize: 2, callTimeoutMs: MAINTENANCE_TIMEOUT_MS }, log);
  const warmUp = () => warmUpNeo4j(maintenance.runAndRollBack);
  const { execute, write, maxCommitDelayMs, close } = connectNeo4j(options, log, {
    // The warm-up must not wait for connections that were open during the outage.
    onOpen: maintenance.reconnect,
    warmUp,
  });

  async function change(statement: string, parameters: object): Promise<void> {
    await write((run) => run(statement, parameters));
  }

  /** Runs `step` in a transaction in which the nodes of two people are locked, so that it sees how they are related. */
  const transition = <Outcome>(people: readonly number[], step: (run: Run) => Promise<Outcome>): Promise<Outcome> =>
    write(async (run) => {
      await run(cypher.LOCK_PEOPLE, { people: inOrder(people) });
      return step(run);
    });

  /** Runs a transition that consists of one statement. Returns whether the statement changed anything. */
  const changePair = (statement: string, from: number, to: number) =>
    transition([from, to], async (run) => (await run(statement, { from, to })).length > 0);

  /** Removes edges of a node, and the node if there were fewer than `MAX_EDGES_PER_REMOVAL`. Returns whether it was removed. */
  async function remove(edgesStatement: string, nodeStatement: string, id: number): Promise<boolean> {
    const parameters = { id, limit: MAX_EDGES_PER_REMOVAL };
    const [row] = await write((run) => run<{ removed: number }>(edgesStatement, parameters));
    if (row?.removed === MAX_EDGES_PER_REMOVAL) return false;
    await change(nodeStatement, { id });
    return true;
  }

  /** Creates a constraint. Drops its index first, if an interrupted earlier creation has left it. */
  async function createConstraint({ create, dropIndex }: (typeof cypher.CONSTRAINTS)[number]): Promise<void> {
    const createOnce = () => maintenance.write((run) => run(create));
    await createOnce().catch(async (error) => {
      if (!(error instanceof Neo4jError) || error.code !== INDEX_EXISTS) throw error;
      await maintenance.write((run) => run(dropIndex));
      await createOnce();
    });
  }

  const graph: SocialGraph = {
    kind: 'neo4j',
    hasNodes: true,
    maxCommitDelayMs,
    within: () => graph,

    async relationsBetween(people, others, posts) {
      const needsFriendships = people.length > 0 && others.length > 0;
      if (!needsFriendships && posts.length === 0) return { friendships: [], likes: new Map() };
      const [row] = await execute<RelationsRow>(cypher.RELATIONS_BETWEEN, {
        people,
        others,
        posts,
        startWithPeople: people.length <= others.length,
        maxScanned: MAX_LIKERS_SCANNED,
      });
      if (!row) throw new Error('Expected one row from the query for relations');
      const likes = new Map<number, LikesOfPost>(row.likes.map(([id, count, likers]) => [id, { count, likers }]));
      const popular = row.likes.flatMap(([id, count]) => (count > MAX_LIKERS_SCANNED ? [id] : []));
      if (popular.length > 0 && people.length > 0) {
        const rows = await execute<{ id: number; likers: number[] }>(cypher.LIKERS_AMONG, { posts: popular, people });
        for (const { id, likers } of rows) likes.set(id, { count: likes.get(id)?.count ?? 0, likers });
      }
      return { friendships: row.friendships.map(([person, friend]) => ({ person, friend })), likes };
    },

    async friendsOfEach(people) {
      const rows = await execute<{ person: number; friends: number[] }>(cypher.FRIENDS_OF_EACH, { people });
      const friendsByPerson = new Map(rows.map(({ person, friends }) => [person, friends]));
      return people.map((person) => friendsByPerson.get(person) ?? []);
    },

    requestersOf: async (person) => idsOf(await execute(cypher.REQUESTERS_OF, { person })),

    like: (likes) => change(cypher.LIKE, { likes: inLockOrder(likes) }),
    unlike: (likes) => change(cypher.UNLIKE, { likes: inLockOrder(likes) }),

    request: (from, to) =>
      transition<RequestOutcome>([from, to], async (run) => {
        const [existing] = await run<{ outcome: RequestOutcome }>(cypher.EXISTING_RELATION, { from, to });
        if (existing) return existing.outcome;
        await run(cypher.REQUEST, { requests: [{ from, to }] });
        return 'sent';
      }),

    accept: (by, from) => changePair(cypher.ACCEPT, from, by),
    decline: (by, from) => changePair(cypher.END_REQUEST, from, by),
    cancel: (by, to) => changePair(cypher.END_REQUEST, by, to),
    unfriend: (by, friend) => changePair(cypher.UNFRIEND, by, friend),

    ensureNodes: (nodes) => ensureNodes(execute, nodes),

    removePerson: (id) => remove(cypher.REMOVE_EDGES_OF_PERSON, cypher.REMOVE_PERSON, id),
    removePost: (id) => remove(cypher.REMOVE_EDGES_OF_POST, cypher.REMOVE_POST, id),

    bulk: bulkAccess(maintenance),

    async claimedBy() {
      const [installation] = await execute<{ id: string }>(cypher.READ_CLAIM);
      return installation?.id;
    },
    // The first of two concurrent claims succeeds, because `rank` is unique.
    claim: (installation) => change(cypher.CLAIM, { installation }),
    release: () => change(cypher.RELEASE, {}),

    async highestIds() {
      const [[person], [post]] = await Promise.all([
        execute<{ id: number }>(cypher.HIGHEST_PERSON),
        execute<{ id: number }>(cypher.HIGHEST_POST),
      ]);
      return { person: person?.id ?? 0, post: post?.id ?? 0 };
    },

    async migrate() {
      // This call comes first, because it has the short timeout of requests: an unavailable server is detected sooner.
      await execute(cypher.READ_CLAIM);
      for (const statement of cypher.REMOVE_ATTEMPTS) await maintenance.write((run) => run(statement));
      for (const constraint of cypher.CONSTRAINTS) await createConstraint(constraint);
      await maintenance.execute(cypher.AWAIT_INDEXES, { seconds: MAINTENANCE_TIMEOUT_MS / 1000 });
    },

    warmUp,

    async close() {
      await Promise.all([close(), maintenance.close()]);
    },
  };
  return graph;
}

interface RelationsRow {
  friendships: [person: number, friend: number][];
  likes: [post: number, count: number, likers: number[]][];
}

function bulkAccess({ execute, write }: Neo4jConnection): BulkAccess {
  return {
    personIds: async (after, limit) => idsOf(await execute(cypher.PERSON_IDS, { after, limit })),
    postIds: async (after, limit) => idsOf(await execute(cypher.POST_IDS, { after, limit })),

    async edgesOf(people) {
      const edges: Edges = { friendships: [], requests: [], likes: [] };
      const rows = await execute<{ type: string; start: number; end: number }>(cypher.EDGES_OF, { people });
      for (const { type, start, end } of rows) {
        if (type === 'FRIENDS_WITH') edges.friendships.push({ person: start, friend: end });
        else if (type === 'REQUESTED') edges.requests.push({ from: start, to: end });
        else edges.likes.push({ person: start, post: end });
      }
      return edges;
    },

    ensureNodes: (nodes) => ensureNodes(execute, nodes),

    addEdges: ({ friendships, requests, likes }) =>
      write(async (run) => {
        await run(cypher.ADD_FRIENDSHIPS, { friendships });
        await run(cypher.REQUEST, { requests });
        await run(cypher.LIKE, { likes: inLockOrder(likes) });
      }),
  };
}

const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

const inOrder = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);

/** Sorts likes by post, then by person, so that concurrent transactions rarely lock nodes in opposite orders and deadlock. */
const inLockOrder = (likes: readonly Like[]) => likes.toSorted((a, b) => a.post - b.post || a.person - b.person);

/** Creates the nodes that do not exist. Sorts their ids, as `inLockOrder` sorts likes. */
async function ensureNodes(execute: Run, { people, posts }: Nodes): Promise<void> {
  await execute(cypher.ENSURE_NODES, { people: inOrder(people), posts: inOrder(posts) });
}
