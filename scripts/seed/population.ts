/** What is to be made. The first account is never private, since the popular ones are its own. */
export interface Population {
  accounts: number;
  posts: number;
  /** In all, spread over the posts. */
  likes: number;
  /** Of each account. */
  friends: number;
  /** How many of a hundred accounts are private. */
  privatePercent: number;
  /** How many like the newest post, besides; it is the first account's. */
  popularPost: number;
  /** How many friends the first account has, besides. */
  popularPerson: number;
  seed: number;
}

/** Why there can be no such population; nothing when there can. */
export function problemsOf(wanted: Population): string[] {
  const { accounts, posts, likes, friends, privatePercent, popularPost, popularPerson } = wanted;
  const problems: [boolean, string][] = [
    [posts > 0 && accounts === 0, 'posts need an account'],
    [privatePercent > 100, 'no more than 100 percent of the accounts can be private'],
    [friends > Math.max(0, accounts - 1), 'nobody can have more friends than there are other accounts'],
    [friends % 2 === 1 && accounts % 2 === 1, 'an odd number of friends for each needs an even number of accounts'],
    [likes > posts * accounts, 'there can be no more likes than every account for every post'],
    [popularPost > accounts, 'a popular post needs as many accounts as likes'],
    [popularPost > 0 && posts === 0, 'a popular post needs a post'],
    [popularPerson > Math.max(0, accounts - 1), 'a popular person needs as many other accounts as friends'],
  ];
  return problems.flatMap(([broken, problem]) => (broken ? [problem] : []));
}
