/*
 * Every client has its own addresses in 127.0.0.0/8, so that default rate limits apply as on a real network. On Linux a
 * client can use any of them.
 */

/** The local address of attackers that use only one. */
export const ATTACKER = '127.2.0.1';

/** Returns a function that returns addresses of 127.`network`.0.0/16, each of them `usesPerAddress` times in a row. */
export function rotateAddresses(network: number, usesPerAddress: number): () => string {
  let count = 0;
  return () => {
    const index = Math.floor(count++ / usesPerAddress) + 1;
    return `127.${network}.${(index >> 8) & 255}.${index & 255}`;
  };
}
