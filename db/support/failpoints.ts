/** What has just happened in a write that touches more than one store. A crash then must do no harm. */
export type Failpoint =
  | 'image noted'
  | 'image stored'
  | 'changes committed'
  | 'node written'
  | 'delivery marked'
  | 'image removed'
  | 'likes written'
  | 'friendship written';

let listener: (moment: Failpoint) => void = () => undefined;

export const failpoint = (moment: Failpoint): void => listener(moment);

/** For tests alone, which end the process there. */
export function onFailpoint(listen: (moment: Failpoint) => void): void {
  listener = listen;
}
