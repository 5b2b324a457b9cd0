import type { Edges, SocialGraph } from '../../db/graph/index.js';
import { lockExclusive } from '../../db/postgres/locks.js';
import type { Inspection } from './inspection.js';
import { judge, type Problem } from './judge.js';
import { pages } from './pages.js';

/** Everybody has many ties, so fewer people than of anything else are looked at together. */
const SHARE = 0.2;

/** How many problems are looked at again in one transaction: their people cannot change anything meanwhile. */
const BATCH = 50;

export async function checkTies(inspection: Inspection): Promise<void> {
  const { stores, pageSize, progress } = inspection;
  const { snapshot } = stores.graph;
  for await (const people of pages(snapshot.personIds, Math.ceil(pageSize * SHARE), (id) => id)) {
    const suspects = judge(await snapshot.edgesOf(people), people);
    for (let start = 0; start < suspects.length; start += BATCH) {
      await confirm(inspection, suspects.slice(start, start + BATCH));
    }
    progress.advance(people.length);
  }
}

/**
 * A look at a graph is no snapshot: of an accept under way it may see both the request and the friendship, or one half of
 * it. Whoever changes a tie holds the locks of those whom it ties, so under these locks what is seen is so.
 */
async function confirm({ stores, findings, repair }: Inspection, suspects: readonly Problem[]): Promise<void> {
  const confirmed = await stores.graphTransactions.transaction().execute(async (trx) => {
    await lockExclusive(trx, {
      accounts: suspects.flatMap(({ locked }) => locked.accounts),
      posts: suspects.flatMap(({ locked }) => locked.posts),
    });
    const graph = stores.graph.within(trx);
    const suspected = new Set(suspects.map(keyOf));
    const people = [...new Set(suspects.map(({ person }) => person))];
    const problems = judge(await graph.snapshot.edgesOf(people), people);
    const still = problems.filter((problem) => suspected.has(keyOf(problem)));
    if (repair) await cut(graph, still);
    return still;
  });
  for (const { rule, example } of confirmed) findings.add(rule, [example], repair ? 1 : 0);
}

const keyOf = ({ rule, example }: Problem) => `${rule}: ${example}`;

async function cut(graph: SocialGraph, problems: readonly Problem[]): Promise<void> {
  for (const keep of [1, 0] as const) {
    const surplus = problems.filter((problem) => problem.keep === keep).map((problem) => problem.surplus);
    if (surplus.length > 0) await graph.snapshot.removeEdges(together(surplus), keep);
  }
}

const together = (ties: readonly Edges[]): Edges => ({
  friendships: ties.flatMap(({ friendships }) => friendships),
  requests: ties.flatMap(({ requests }) => requests),
  likes: ties.flatMap(({ likes }) => likes),
});
