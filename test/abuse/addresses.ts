/*
 * Everybody has addresses of their own in 127.0.0.0/8, so that default rate limits apply to each as they would on a network.
 * Linux lets a client use any of them.
 */

/** The one address of an attacker who has only one. */
export const ATTACKER = '127.2.0.1';

/** An endless supply of addresses, each of which serves `uses` requests. */
export function addresses(network: number, uses = 1): () => string {
  let count = 0;
  return () => {
    const index = Math.floor(count++ / uses) + 1;
    return `127.${network}.${(index >> 8) & 255}.${index & 255}`;
  };
}
