/** The data to generate. The first account is never private. */
export interface Population {
  accounts: number;
  posts: number;
  /** The total number, spread over the posts. */
  likes: number;
  /** The number of friends of each account. */
  friends: number;
  /** The percentage of private accounts. */
  privatePercent: number;
}

/** Returns a message for each reason why a population is impossible. */
export function problemsOf(population: Population): string[] {
  const { accounts, posts, likes, friends, privatePercent } = population;
  const problems: [boolean, string][] = [
    [posts > 0 && accounts === 0, 'posts need at least one account'],
    [privatePercent > 100, 'the percentage of private accounts must not exceed 100'],
    [friends > Math.max(0, accounts - 1), 'no account can have more friends than there are other accounts'],
    [friends % 2 === 1 && accounts % 2 === 1, 'an odd number of friends needs an even number of accounts'],
    [likes > posts * accounts, 'likes must not exceed the number of accounts times the number of posts'],
  ];
  return problems.flatMap(([applies, problem]) => (applies ? [problem] : []));
}
