/*
 * Every client has its own addresses in 127.0.0.0/8, so that default rate limits apply as on a real network. On Linux a
 * client can use any of them.
 */

/** The address of attackers that use only one. */
export const ATTACKER = '127.2.0.1';

/** Returns a generator of addresses, each of which is used for `uses` requests. */
export function addresses(network: number, uses = 1): () => string {
  let count = 0;
  return () => {
    const index = Math.floor(count++ / uses) + 1;
    return `127.${network}.${(index >> 8) & 255}.${index & 255}`;
  };
}
