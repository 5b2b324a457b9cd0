import { SingleBar } from 'cli-progress';

/** Reports the progress of one step of a long operation. */
export type Progress = (step: string, done: number, total: number) => void;

/** Starts a progress bar on standard error. Without a terminal, it prints a line every three seconds. */
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

/** Creates a display of the steps of a task on standard error: a bar for each step, or a line without a terminal. */
export function createProgressDisplay(): ProgressDisplay {
  return process.stderr.isTTY ? createBars() : createLines();
}

function createBars(): ProgressDisplay {
  let bar: SingleBar | undefined;
  let currentStep: string | undefined;
  const end = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    show(step, done, total) {
      if (step !== currentStep) {
        end();
        currentStep = step;
        bar = createProgressBar(step, total, done);
      }
      bar?.update(done);
    },
    end,
  };
}

/** The interval of the lines of a long step. */
const LINE_INTERVAL_MS = 30_000;

/** Prints a line when a step ends, and during a long one. */
export function createLines(): ProgressDisplay {
  let current: { step: string; done: number; total: number } | undefined;
  let printedAt = Date.now();
  const print = () => {
    if (current && current.total > 0) console.error(`  ${current.step}  ${current.done} of ${current.total}`);
    printedAt = Date.now();
  };
  const end = () => {
    print();
    current = undefined;
  };
  return {
    show(step, done, total) {
      if (step !== current?.step) end();
      current = { step, done, total };
      if (done < total && Date.now() - printedAt >= LINE_INTERVAL_MS) print();
    },
    end,
  };
}
