import { randomUUID } from 'node:crypto';
import type { Log } from '../log.js';
import type { Like, LikesOfPost, Nodes, RequestOutcome, SocialGraph, Ties } from './index.js';
import { connectNeo4j, type Neo4jOptions, type Run } from './neo4j-session.js';

export type { Neo4jOptions };

/** The deadline of a migration, or of a look at all there is, in milliseconds. */
const PATIENCE = 10 * 60 * 1000;

/** After how many deadlines the mark of an attempt is of no use. */
const ATTEMPT_AGE = 30;

/** How many ties one transaction removes. */
const CHUNK = 10_000;

/** Up to so many likers of a post are looked through; of a post that has more, each person is looked for among them. */
const FEW = 1000;

/**
 * The graph in Neo4j: nodes `Person` and `Post`, and between them LIKES, REQUESTED and, once in each direction, FRIENDS_WITH.
 * Every Cypher statement of the service is in this file, and none is put together from pieces.
 */
export function openNeo4j(options: Neo4jOptions, log: Log): SocialGraph {
  const { read, write, lateness, close } = connectNeo4j(options, log, options.timeout);
  const patient = connectNeo4j({ ...options, poolSize: 2 }, log, PATIENCE);

  async function change(cypher: string, parameters: object): Promise<void> {
    await write((run) => run(cypher, parameters));
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
      await run(LOCK_PEOPLE, { people: people.toSorted((a, b) => a - b) });
      const [earlier] = await run('MATCH (attempt:Attempt {id: $attempt}) RETURN attempt.id AS id', { attempt });
      if (earlier) return done;
      const reached = await step(run);
      if (reached === done) await run('CREATE (:Attempt {id: $attempt, at: timestamp()})', { attempt });
      return reached;
    });
    if (outcome === done) forgetAttempts(attempt).catch(() => undefined);
    return outcome;
  }

  /** True when there was something to change. */
  const changePair = (cypher: string, from: number, to: number) =>
    transition([from, to], true, async (run) => (await run(cypher, { from, to })).length > 0);

  /** This one, and those for which no next try can come any more. */
  async function forgetAttempts(attempt: string | null): Promise<void> {
    const statement = `
      MATCH (attempt:Attempt)
      WHERE attempt.id = $attempt OR attempt.at < timestamp() - $age
      DELETE attempt`;
    await change(statement, { attempt, age: ATTEMPT_AGE * options.timeout });
  }

  /** A statement that removes up to `limit` ties and tells how many, until it finds less. */
  async function removeTies(cypher: string, id: number): Promise<void> {
    let removed = CHUNK;
    while (removed === CHUNK) {
      const [row] = await write((run) => run<{ removed: number }>(cypher, { id, limit: CHUNK }));
      removed = row?.removed ?? 0;
    }
  }

  const graph: SocialGraph = {
    kind: 'neo4j',
    lateness,
    within: () => graph,

    async tiesBetween(people, others, posts) {
      const ties = { friendships: [], found: [] };
      const asksFriends = people.length > 0 && others.length > 0;
      if (!asksFriends && posts.length === 0) return { friendships: [], likes: [] };
      const fewPeople = people.length <= others.length;
      const [row = ties] = await read<FoundTies>(TIES_BETWEEN, { people, others, fewPeople, posts, few: FEW });
      const likesOf = new Map<number, LikesOfPost>(row.found.map(([id, count, likers]) => [id, { count, likers }]));
      const popular = row.found.flatMap(([id, count]) => (count > FEW ? [id] : []));
      if (popular.length > 0 && people.length > 0) {
        const rows = await read<{ id: number; likers: number[] }>(LIKERS_AMONG, { posts: popular, people });
        for (const { id, likers } of rows) likesOf.set(id, { count: likesOf.get(id)?.count ?? 0, likers });
      }
      return {
        friendships: row.friendships.map(([person, friend]) => ({ person, friend })),
        likes: posts.map((post) => likesOf.get(post) ?? { count: 0, likers: [] }),
      };
    },

    friendsOf: async (person) => (await graph.friendsOfEach([person]))[0] ?? [],

    async friendsOfEach(people) {
      const rows = await read<{ person: number; friends: number[] }>(FRIENDS_OF_EACH, { people });
      const friendsOf = new Map(rows.map(({ person, friends }) => [person, friends]));
      return people.map((person) => friendsOf.get(person) ?? []);
    },

    requestersOf: async (person) => idsOf(await read(REQUESTERS_OF, { person })),

    async like(likes) {
      if (likes.length > 0) await change(LIKE, { likes: inOrder(likes) });
    },
    async unlike(likes) {
      if (likes.length > 0) await change(UNLIKE, { likes: inOrder(likes), keep: 0 });
    },

    request: (from, to) =>
      transition<RequestOutcome>([from, to], 'sent', async (run) => {
        const obstacle = `
          MATCH (:Person {id: $from})-[tie:FRIENDS_WITH|REQUESTED]-(:Person {id: $to})
          WITH CASE type(tie) WHEN 'FRIENDS_WITH' THEN 'friends' ELSE 'pending' END AS outcome
          RETURN outcome ORDER BY outcome LIMIT 1`;
        const [there] = await run<{ outcome: RequestOutcome }>(obstacle, { from, to });
        if (there) return there.outcome;
        await run(REQUEST, { requests: [{ from, to }] });
        return 'sent';
      }),

    accept: (by, from) => changePair(ACCEPT, from, by),
    decline: (by, from) => changePair(END_REQUEST, from, by),
    cancel: (by, to) => changePair(END_REQUEST, by, to),
    unfriend: (by, friend) => changePair(UNFRIEND, by, friend),

    keep: (nodes) => write(keepNodes(nodes)),

    async removePerson(id) {
      const ties = 'MATCH (:Person {id: $id})-[tie]-() WITH tie LIMIT $limit DELETE tie RETURN count(*) AS removed';
      await removeTies(ties, id);
      await change('MATCH (person:Person {id: $id}) DETACH DELETE person', { id });
    },

    async removePost(id) {
      const ties = 'MATCH (:Post {id: $id})-[tie]-() WITH tie LIMIT $limit DELETE tie RETURN count(*) AS removed';
      await removeTies(ties, id);
      await change('MATCH (post:Post {id: $id}) DETACH DELETE post', { id });
    },

    inventory: {
      personIds: async (after, limit) => idsOf(await patient.read(PERSON_IDS, { after, limit })),
      postIds: async (after, limit) => idsOf(await patient.read(POST_IDS, { after, limit })),

      async tiesOf(people) {
        const statement = `
          MATCH (person:Person)-[tie:FRIENDS_WITH|REQUESTED|LIKES]-()
          WHERE person.id IN $people
          WITH DISTINCT tie
          RETURN type(tie) AS type, startNode(tie).id AS start, endNode(tie).id AS end`;
        const ties: Ties = { friendships: [], requests: [], likes: [] };
        const rows = await patient.read<{ type: string; start: number; end: number }>(statement, { people });
        for (const { type, start, end } of rows) {
          if (type === 'FRIENDS_WITH') ties.friendships.push({ person: start, friend: end });
          else if (type === 'REQUESTED') ties.requests.push({ from: start, to: end });
          else ties.likes.push({ person: start, post: end });
        }
        return ties;
      },

      keep: (nodes) => patient.write(keepNodes(nodes)),

      tie: ({ friendships, requests, likes }) =>
        patient.write(async (run) => {
          const befriend = `
            UNWIND $friendships AS friendship
            MERGE (person:Person {id: friendship.person})
            MERGE (friend:Person {id: friendship.friend})
            MERGE (person)-[:FRIENDS_WITH]->(friend)`;
          await run(befriend, { friendships });
          await run(REQUEST, { requests });
          await run(LIKE, { likes: inOrder(likes) });
        }),

      untie: ({ friendships, requests, likes }, keep = 0) =>
        patient.write(async (run) => {
          const ties = [
            ...friendships.map(({ person, friend }) => ({ type: 'FRIENDS_WITH', from: person, to: friend })),
            ...requests.map((request) => ({ type: 'REQUESTED', ...request })),
          ];
          await run(PART, { ties, keep });
          await run(UNLIKE, { likes: inOrder(likes), keep });
        }),
    },

    async owner() {
      const [installation] = await read<{ id: string }>('MATCH (i:Installation) RETURN i.id AS id LIMIT 1');
      return installation?.id;
    },
    // Of two that mark it at once the first has it: there is only one of rank 1.
    own: (installation, instead = installation) => change(OWN, { installation, instead }),
    disown: () => change('MATCH (i:Installation) DELETE i', {}),

    async highestIds() {
      const [[person], [post]] = await Promise.all([
        read<{ id: number }>('MATCH (p:Person) WHERE p.id > 0 RETURN p.id AS id ORDER BY id DESC LIMIT 1'),
        read<{ id: number }>('MATCH (p:Post) WHERE p.id > 0 RETURN p.id AS id ORDER BY id DESC LIMIT 1'),
      ]);
      return { person: person?.id ?? 0, post: post?.id ?? 0 };
    },

    async migrate() {
      // Within the usual deadline, so that a server that is not there is soon found out.
      await forgetAttempts(null);
      for (const constraint of CONSTRAINTS) await patient.write((run) => run(constraint));
      await patient.read('CALL db.awaitIndexes($seconds)', { seconds: PATIENCE / 1000 });
    },

    async close() {
      await Promise.all([close(), patient.close()]);
    },
  };
  return graph;
}

const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

const keepNodes =
  ({ people, posts }: Nodes) =>
  async (run: Run) => {
    if (people.length > 0) await run('UNWIND $people AS id MERGE (:Person {id: id})', { people });
    if (posts.length > 0) await run('UNWIND $posts AS id MERGE (:Post {id: id})', { posts });
  };

/** By post and then by person: who locks the same nodes does it in the same order. */
const inOrder = (likes: readonly Like[]) => likes.toSorted((a, b) => a.post - b.post || a.person - b.person);

/** Setting a property locks its node until the transaction ends, even to the value that it has. */
const LOCK_PEOPLE = `
  UNWIND $people AS id
  MERGE (person:Person {id: id})
  SET person.id = id`;

interface FoundTies {
  friendships: [person: number, friend: number][];
  found: [post: number, count: number, likers: number[]][];
}

/**
 * Friendships are looked for from the end where fewer are given. A node knows how many relationships of a kind it has. Lists
 * are read sooner than a record for each post.
 */
const TIES_BETWEEN = `
  RETURN
    COLLECT {
      MATCH (person:Person)-[:FRIENDS_WITH]->(friend)
      WHERE $fewPeople AND person.id IN $people AND friend.id IN $others
      RETURN DISTINCT [person.id, friend.id]
      UNION
      MATCH (person)-[:FRIENDS_WITH]->(friend:Person)
      WHERE NOT $fewPeople AND person.id IN $people AND friend.id IN $others
      RETURN DISTINCT [person.id, friend.id]
    } AS friendships,
    COLLECT {
      MATCH (post:Post)
      WHERE post.id IN $posts
      WITH post, COUNT { (post)<-[:LIKES]-() } AS count
      RETURN [post.id, count, COLLECT {
        MATCH (post)<-[:LIKES]-(person)
        WHERE count <= $few AND person.id IN $people
        RETURN DISTINCT person.id
      }]
    } AS found`;

/** Between two nodes that are both given, Neo4j looks through the relationships of the one that has fewer. */
const LIKERS_AMONG = `
  MATCH (post:Post)
  WHERE post.id IN $posts
  MATCH (person:Person)
  WHERE person.id IN $people AND EXISTS { (person)-[:LIKES]->(post) }
  RETURN post.id AS id, collect(person.id) AS likers`;

const FRIENDS_OF_EACH = `
  MATCH (person:Person)-[:FRIENDS_WITH]->(friend)
  WHERE person.id IN $people AND friend <> person
  RETURN person.id AS person, collect(DISTINCT friend.id) AS friends`;

const REQUESTERS_OF = `
  MATCH (person:Person {id: $person})<-[:REQUESTED]-(requester)
  WHERE requester <> person
  RETURN DISTINCT requester.id AS id`;

const PERSON_IDS = 'MATCH (p:Person) WHERE p.id > $after RETURN p.id AS id ORDER BY id LIMIT $limit';
const POST_IDS = 'MATCH (p:Post) WHERE p.id > $after RETURN p.id AS id ORDER BY id LIMIT $limit';

const LIKE = `
  UNWIND $likes AS like
  MERGE (post:Post {id: like.post})
  MERGE (person:Person {id: like.person})
  MERGE (person)-[:LIKES]->(post)`;

/** Of several alike everybody keeps the same one. */
const UNLIKE = `
  UNWIND $likes AS ended
  MATCH (person:Person {id: ended.person})-[tie:LIKES]->(post:Post {id: ended.post})
  WITH DISTINCT person, post, tie ORDER BY elementId(tie)
  WITH person, post, collect(tie) AS ties
  UNWIND ties[$keep..] AS tie
  DELETE tie`;

const PART = `
  UNWIND $ties AS ended
  MATCH (from:Person {id: ended.from})-[tie:FRIENDS_WITH|REQUESTED]->(to:Person {id: ended.to})
  WHERE type(tie) = ended.type
  WITH DISTINCT from, to, ended.type AS type, tie ORDER BY elementId(tie)
  WITH from, to, type, collect(tie) AS ties
  UNWIND ties[$keep..] AS tie
  DELETE tie`;

const REQUEST = `
  UNWIND $requests AS request
  MERGE (from:Person {id: request.from})
  MERGE (to:Person {id: request.to})
  MERGE (from)-[:REQUESTED]->(to)`;

const ACCEPT = `
  MATCH (from:Person {id: $from})-[request:REQUESTED]->(to:Person {id: $to})
  DELETE request
  MERGE (from)-[:FRIENDS_WITH]->(to)
  MERGE (to)-[:FRIENDS_WITH]->(from)
  RETURN true AS changed`;

const END_REQUEST = `
  MATCH (:Person {id: $from})-[request:REQUESTED]->(:Person {id: $to})
  DELETE request
  RETURN true AS changed`;

const UNFRIEND = `
  MATCH (:Person {id: $from})-[friendship:FRIENDS_WITH]-(:Person {id: $to})
  DELETE friendship
  RETURN true AS changed`;

const OWN = `
  MERGE (i:Installation {rank: 1})
  ON CREATE SET i.id = $installation
  ON MATCH SET i.id = CASE i.id WHEN $instead THEN $installation ELSE i.id END`;

const CONSTRAINTS = [
  'CREATE CONSTRAINT person_id IF NOT EXISTS FOR (person:Person) REQUIRE person.id IS UNIQUE',
  'CREATE CONSTRAINT post_id IF NOT EXISTS FOR (post:Post) REQUIRE post.id IS UNIQUE',
  'CREATE CONSTRAINT attempt_id IF NOT EXISTS FOR (attempt:Attempt) REQUIRE attempt.id IS UNIQUE',
  'CREATE CONSTRAINT installation_rank IF NOT EXISTS FOR (i:Installation) REQUIRE i.rank IS UNIQUE',
];
