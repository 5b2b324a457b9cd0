/** What has just happened in a write that touches more than one store. A crash then must do no harm. */
export type Moment =
  | 'image noted'
  | 'image stored'
  | 'changes committed'
  | 'node written'
  | 'delivery marked'
  | 'image removed'
  | 'likes written'
  | 'friendship written';

let listener: (moment: Moment) => void = () => undefined;

export const reached = (moment: Moment): void => listener(moment);

/** For tests alone, which end the process there. */
export function onMoment(listen: (moment: Moment) => void): void {
  listener = listen;
}
