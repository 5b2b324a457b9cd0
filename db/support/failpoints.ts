/*
 * Failpoints: named steps of writes that involve several stores. Tests kill the process at each of them, to prove that no crash
 * leaves the stores inconsistent.
 */
export type Failpoint =
  | 'image enqueued'
  | 'image stored'
  | 'transaction committed'
  | 'node written'
  | 'delivery committed'
  | 'image removed'
  | 'likes written'
  | 'friendship written';

let listener: (name: Failpoint) => void = () => undefined;

/** Reports that a failpoint has been reached. */
export const failpoint = (name: Failpoint): void => listener(name);

/** Sets a function that is called at each failpoint. Only for tests. */
export function onFailpoint(listen: (name: Failpoint) => void): void {
  listener = listen;
}
