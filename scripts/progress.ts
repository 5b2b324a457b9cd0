import { SingleBar } from 'cli-progress';

/** How far something has come, on standard error: a bar on a terminal, elsewhere a line every few seconds. */
export function openBar(step: string, total: number, done = 0): SingleBar {
  const bar = new SingleBar({
    format: '  {step}  {bar} {value} of {total}, {duration_formatted}',
    barsize: 30,
    clearOnComplete: true,
    // Its own way would take the first Ctrl-C for itself.
    gracefulExit: false,
    noTTYOutput: true,
    notTTYSchedule: 3000,
  });
  bar.start(total, done, { step });
  return bar;
}

export interface Progress {
  show(step: string, done: number, total: number): void;
  end(): void;
}

/** Shows the steps of something, each by a bar of its own. */
export function openProgress(): Progress {
  let bar: SingleBar | undefined;
  let current: string | undefined;
  const end = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    show(step, done, total) {
      if (step !== current) {
        end();
        current = step;
        bar = openBar(step, total, done);
      }
      bar?.update(done);
    },
    end,
  };
}
