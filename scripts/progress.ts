import { SingleBar } from 'cli-progress';

/** Reports the progress of one step of a long operation. */
export type Progress = (step: string, done: number, total: number) => void;

/** Shows progress on standard error: a bar on a terminal, otherwise a line every three seconds. */
export function createProgressBar(step: string, total: number, done = 0): SingleBar {
  const bar = new SingleBar({
    format: '  {step}  {bar} {value} of {total}, {duration_formatted}',
    barsize: 30,
    clearOnComplete: true,
    // The library's own handler would swallow the first Ctrl-C.
    gracefulExit: false,
    noTTYOutput: true,
    notTTYSchedule: 3000,
  });
  bar.start(total, done, { step });
  return bar;
}

export interface ProgressDisplay {
  show(step: string, done: number, total: number): void;
  end(): void;
}

/** Shows the steps of a task, each with its own bar. */
export function createProgressDisplay(): ProgressDisplay {
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
        bar = createProgressBar(step, total, done);
      }
      bar?.update(done);
    },
    end,
  };
}
