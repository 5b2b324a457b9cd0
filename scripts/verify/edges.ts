import type { Edges, SocialGraph } from '../../db/graph/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import type { CheckContext } from './context.js';
import { type EdgeProblem, findEdgeProblems } from './edge-problems.js';
import { paginate } from './pages.js';

/** The page size of people relative to that of other items, because each person has many edges. */
const PEOPLE_PAGE_FACTOR = 0.2;

/** The number of suspects that one transaction checks. It blocks writes by the people involved. */
const SUSPECTS_PER_TRANSACTION = 50;

export async function checkEdges(context: CheckContext): Promise<void> {
  const { stores, pageSize, progress } = context;
  const { snapshot } = stores.graph;
  for await (const people of paginate(snapshot.personIds, Math.ceil(pageSize * PEOPLE_PAGE_FACTOR), (id) => id)) {
    const suspects = findEdgeProblems(await snapshot.edgesOf(people), people);
    for (let start = 0; start < suspects.length; start += SUSPECTS_PER_TRANSACTION) {
      await confirm(context, suspects.slice(start, start + SUSPECTS_PER_TRANSACTION));
    }
    progress.advance(people.length);
  }
}

/**
 * Checks the suspects again under locks, and reports and repairs the confirmed ones. The first read of the graph is not
 * atomic: while a request is being accepted, it may see both the request and the friendship, or half of the friendship. Every
 * writer of an edge locks both of its endpoints.
 */
async function confirm({ stores, findings, repair }: CheckContext, suspects: readonly EdgeProblem[]): Promise<void> {
  const confirmed = await stores.graphTransactions.transaction().execute(async (trx) => {
    await lockExclusive(trx, {
      accounts: suspects.flatMap(({ lockIds }) => lockIds.accounts),
      posts: suspects.flatMap(({ lockIds }) => lockIds.posts),
    });
    const graph = stores.graph.within(trx);
    const suspected = new Set(suspects.map(keyOf));
    const people = [...new Set(suspects.map(({ person }) => person))];
    const problems = findEdgeProblems(await graph.snapshot.edgesOf(people), people);
    const remaining = problems.filter((problem) => suspected.has(keyOf(problem)));
    if (repair) await removeSurplus(graph, remaining);
    return remaining;
  });
  for (const { rule, example } of confirmed) findings.add(rule, [example], repair ? 1 : 0);
}

const keyOf = ({ rule, example }: EdgeProblem) => `${rule}: ${example}`;

async function removeSurplus(graph: SocialGraph, problems: readonly EdgeProblem[]): Promise<void> {
  for (const keep of [1, 0] as const) {
    const surplus = problems.filter((problem) => problem.keep === keep).map((problem) => problem.surplus);
    if (surplus.length > 0) await graph.snapshot.removeEdges(mergeEdges(surplus), keep);
  }
}

const mergeEdges = (edges: readonly Edges[]): Edges => ({
  friendships: edges.flatMap(({ friendships }) => friendships),
  requests: edges.flatMap(({ requests }) => requests),
  likes: edges.flatMap(({ likes }) => likes),
});
