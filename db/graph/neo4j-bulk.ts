import * as cypher from './cypher.js';
import type { BulkAccess, Edges } from './index.js';
import type { Neo4jConnection } from './neo4j-session.js';
import { ensureNodes, idsOf, inLockOrder } from './neo4j-shared.js';

export function neo4jBulkAccess({ read, write }: Neo4jConnection): BulkAccess {
  return {
    personIds: async (after, limit) => idsOf(await read(cypher.PERSON_IDS, { after, limit })),
    postIds: async (after, limit) => idsOf(await read(cypher.POST_IDS, { after, limit })),

    async edgesOf(people) {
      const edges: Edges = { friendships: [], requests: [], likes: [] };
      const rows = await read<{ type: string; start: number; end: number }>(cypher.EDGES_OF, { people });
      for (const { type, start, end } of rows) {
        if (type === 'FRIENDS_WITH') edges.friendships.push({ person: start, friend: end });
        else if (type === 'REQUESTED') edges.requests.push({ from: start, to: end });
        else edges.likes.push({ person: start, post: end });
      }
      return edges;
    },

    ensureNodes: (nodes) => write(ensureNodes(nodes)),

    addEdges: ({ friendships, requests, likes }) =>
      write(async (run) => {
        await run(cypher.ADD_FRIENDSHIPS, { friendships });
        await run(cypher.REQUEST, { requests });
        await run(cypher.LIKE, { likes: inLockOrder(likes) });
      }),

    removeEdges: ({ friendships, requests, likes }) =>
      write(async (run) => {
        const edges = [
          ...friendships.map(({ person, friend }) => ({ type: 'FRIENDS_WITH', from: person, to: friend })),
          ...requests.map((request) => ({ type: 'REQUESTED', ...request })),
        ];
        await run(cypher.REMOVE_FRIEND_EDGES, { edges });
        await run(cypher.UNLIKE, { likes: inLockOrder(likes) });
      }),
  };
}
