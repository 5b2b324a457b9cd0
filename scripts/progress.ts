import { SingleBar } from 'cli-progress';

export interface Progress {
  show(step: string, done: number, total: number): void;
  end(): void;
}

/** Shows on standard error how far each step has come: as a bar on a terminal, elsewhere as a line every few seconds. */
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
        bar = new SingleBar({
          format: '  {step}  {bar} {value} of {total}',
          barsize: 30,
          clearOnComplete: true,
          // Ctrl-C ends the process, not just the bar.
          gracefulExit: false,
          noTTYOutput: true,
          notTTYSchedule: 3000,
        });
        bar.start(total, done, { step });
      }
      bar?.update(done);
    },
    end,
  };
}
