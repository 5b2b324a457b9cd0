/** Steps of writes to several stores. Tests kill the process at them: no crash may leave the stores inconsistent. */
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

export const failpoint = (name: Failpoint): void => listener(name);

/** Sets the listener of all failpoints. Only for tests. */
export function onFailpoint(listen: (name: Failpoint) => void): void {
  listener = listen;
}
