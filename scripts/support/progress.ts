import { SingleBar } from 'cli-progress';

/** Reports the progress of one step of a long operation. */
export type Progress = (step: string, done: number, total: number) => void;

/** The interval between two lines of progress if standard error is not a terminal. */
const LOG_INTERVAL_MS = 10_000;

/** Starts a progress bar on standard error. Without a terminal, it prints a line at the start, at the end and regularly. */
export function createProgressBar(step: string, total: number, done = 0): SingleBar {
  const bar = new SingleBar({
    format: '  {step}  {bar} {value} of {total}, {duration_formatted}',
    barsize: 30,
    clearOnComplete: true,
    // The library's own handler would swallow the first Ctrl-C.
    gracefulExit: false,
    noTTYOutput: true,
    notTTYSchedule: LOG_INTERVAL_MS,
  });
  bar.start(total, done, { step });
  return bar;
}

/** Runs a task and shows its steps on standard error, with a progress bar for each step that has items. */
export function showProgress<Result>(run: (progress: Progress) => Promise<Result>): Promise<Result> {
  let bar: SingleBar | undefined;
  let currentStep: string | undefined;
  const stopBar = () => bar?.stop();
  return run((step, done, total) => {
    if (step !== currentStep) {
      stopBar();
      currentStep = step;
      bar = total > 0 ? createProgressBar(step, total, done) : undefined;
    }
    bar?.update(done);
  }).finally(stopBar);
}
