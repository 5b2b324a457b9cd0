/*
 * All Cypher statements of the service. They are constants; values are passed as parameters.
 *
 * Nodes: `Person` (the node of an account), `Post` and `Installation` (the installation marker). Relationships: `LIKES`,
 * `REQUESTED` and `FRIENDS_WITH`. A friendship consists of two `FRIENDS_WITH` relationships, one in each direction.
 */

/**
 * Returns the friendships between two lists of people, and the likes of posts. The search for friendships starts from the
 * shorter list. COUNT is cheap, because Neo4j stores the number of relationships of each node. For a post with more than
 * `$maxScanned` likes, the list of likers is empty: see `LIKERS_AMONG`. The result is a single record of lists, because the
 * driver decodes it faster than one record per post.
 */
export const RELATIONS_BETWEEN = `
  RETURN
    COLLECT {
      MATCH (person:Person)-[:FRIENDS_WITH]->(friend)
      WHERE $startWithPeople AND person.id IN $people AND friend.id IN $others
      RETURN DISTINCT [person.id, friend.id]
      UNION
      MATCH (person)-[:FRIENDS_WITH]->(friend:Person)
      WHERE NOT $startWithPeople AND person.id IN $people AND friend.id IN $others
      RETURN DISTINCT [person.id, friend.id]
    } AS friendships,
    COLLECT {
      MATCH (post:Post)
      WHERE post.id IN $posts
      WITH post, COUNT { (post)<-[:LIKES]-() } AS count
      RETURN [post.id, count, COLLECT {
        MATCH (post)<-[:LIKES]-(person)
        WHERE count <= $maxScanned AND person.id IN $people
        RETURN DISTINCT person.id
      }]
    } AS likes`;

/** Returns which people like each post. For posts with many likes: Neo4j scans the relationships of the node with fewer. */
export const LIKERS_AMONG = `
  MATCH (post:Post)
  WHERE post.id IN $posts
  MATCH (person:Person)
  WHERE person.id IN $people AND EXISTS { (person)-[:LIKES]->(post) }
  RETURN post.id AS id, collect(person.id) AS likers`;

export const FRIENDS_OF_EACH = `
  MATCH (person:Person)-[:FRIENDS_WITH]->(friend)
  WHERE person.id IN $people AND friend <> person
  RETURN person.id AS person, collect(DISTINCT friend.id) AS friends`;

export const REQUESTERS_OF = `
  MATCH (person:Person {id: $person})<-[:REQUESTED]-(requester)
  WHERE requester <> person
  RETURN DISTINCT requester.id AS id`;

export const LIKE = `
  UNWIND $likes AS like
  MERGE (post:Post {id: like.post})
  MERGE (person:Person {id: like.person})
  MERGE (person)-[:LIKES]->(post)`;

export const UNLIKE = `
  UNWIND $likes AS like
  MATCH (:Person {id: like.person})-[edge:LIKES]->(:Post {id: like.post})
  DELETE edge`;

/**
 * Creates the nodes that do not exist, and locks all of them until the transaction ends. Setting a property takes the lock,
 * even if its value does not change.
 */
export const LOCK_PEOPLE = `
  UNWIND $people AS id
  MERGE (person:Person {id: id})
  SET person.id = id`;

/**
 * Returns how two people are related: `friends`, or the direction of a pending request. If several edges exist, the last
 * outcome in alphabetical order is returned, so a friendship takes precedence over a request.
 */
export const EXISTING_RELATION = `
  MATCH (from:Person {id: $from})-[edge:FRIENDS_WITH|REQUESTED]-(:Person {id: $to})
  WITH CASE
    WHEN type(edge) = 'FRIENDS_WITH' THEN 'friends'
    WHEN startNode(edge) = from THEN 'alreadySent'
    ELSE 'alreadyReceived'
  END AS outcome
  RETURN outcome ORDER BY outcome DESC LIMIT 1`;

export const REQUEST = `
  UNWIND $requests AS request
  MERGE (from:Person {id: request.from})
  MERGE (to:Person {id: request.to})
  MERGE (from)-[:REQUESTED]->(to)`;

export const ACCEPT = `
  MATCH (from:Person {id: $from})-[request:REQUESTED]->(to:Person {id: $to})
  DELETE request
  MERGE (from)-[:FRIENDS_WITH]->(to)
  MERGE (to)-[:FRIENDS_WITH]->(from)
  RETURN true AS changed`;

export const END_REQUEST = `
  MATCH (:Person {id: $from})-[request:REQUESTED]->(:Person {id: $to})
  DELETE request
  RETURN true AS changed`;

export const UNFRIEND = `
  MATCH (:Person {id: $from})-[friendship:FRIENDS_WITH]-(:Person {id: $to})
  DELETE friendship
  RETURN true AS changed`;

export const ENSURE_NODES = `
  FOREACH (id IN $people | MERGE (:Person {id: id}))
  FOREACH (id IN $posts | MERGE (:Post {id: id}))`;

export const REMOVE_EDGES_OF_PERSON =
  'MATCH (:Person {id: $id})-[edge]-() WITH edge LIMIT $limit DELETE edge RETURN count(*) AS removed';
export const REMOVE_EDGES_OF_POST =
  'MATCH (:Post {id: $id})-[edge]-() WITH edge LIMIT $limit DELETE edge RETURN count(*) AS removed';
export const REMOVE_PERSON = 'MATCH (person:Person {id: $id}) DETACH DELETE person';
export const REMOVE_POST = 'MATCH (post:Post {id: $id}) DETACH DELETE post';

export const PERSON_IDS = 'MATCH (p:Person) WHERE p.id > $after RETURN p.id AS id ORDER BY id LIMIT $limit';
export const POST_IDS = 'MATCH (p:Post) WHERE p.id > $after RETURN p.id AS id ORDER BY id LIMIT $limit';

export const EDGES_OF = `
  MATCH (person:Person)-[edge:FRIENDS_WITH|REQUESTED|LIKES]-()
  WHERE person.id IN $people
  WITH DISTINCT edge
  RETURN type(edge) AS type, startNode(edge).id AS start, endNode(edge).id AS end`;

export const ADD_FRIENDSHIPS = `
  UNWIND $friendships AS friendship
  MERGE (person:Person {id: friendship.person})
  MERGE (friend:Person {id: friendship.friend})
  MERGE (person)-[:FRIENDS_WITH]->(friend)`;

export const READ_CLAIM = 'MATCH (i:Installation) RETURN i.id AS id LIMIT 1';
export const RELEASE = 'MATCH (i:Installation) DELETE i';

/** Sets the installation marker, unless there is one. `rank` makes it unique. */
export const CLAIM = 'MERGE (i:Installation {rank: 1}) ON CREATE SET i.id = $installation';

export const HIGHEST_PERSON = 'MATCH (p:Person) WHERE p.id > 0 RETURN p.id AS id ORDER BY id DESC LIMIT 1';
export const HIGHEST_POST = 'MATCH (p:Post) WHERE p.id > 0 RETURN p.id AS id ORDER BY id DESC LIMIT 1';

/** Neo4j gives the index of a constraint the same name. `dropIndex` removes an index that exists without its constraint. */
const uniqueConstraint = (name: string, requirement: string) => ({
  name,
  create: `CREATE CONSTRAINT ${name} IF NOT EXISTS FOR ${requirement}`,
  dropIndex: `DROP INDEX ${name} IF EXISTS`,
});

export const CONSTRAINTS = [
  uniqueConstraint('person_id', '(person:Person) REQUIRE person.id IS UNIQUE'),
  uniqueConstraint('post_id', '(post:Post) REQUIRE post.id IS UNIQUE'),
  uniqueConstraint('installation_rank', '(i:Installation) REQUIRE i.rank IS UNIQUE'),
];

/** Removes nodes that version 2 created for friendship changes. */
export const REMOVE_ATTEMPTS = ['DROP CONSTRAINT attempt_id IF EXISTS', 'MATCH (attempt:Attempt) DELETE attempt'];

export const AWAIT_INDEXES = 'CALL db.awaitIndexes($seconds)';
