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

interface ProgressDisplay {
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

/** The interval at which a long step shows how far it is. */
const SHOW_INTERVAL_MS = 30_000;

/** Prints one line for each step: its name when it starts, and `N of N` when it ends. A long step shows numbers in between. */
export function createLines(write = (text: string) => process.stderr.write(text)): ProgressDisplay {
  let current: { step: string; done: number; total: number } | undefined;
  let shownAt = 0;
  const end = () => {
    if (current) write(`${current.done} of ${current.total}\n`);
    current = undefined;
  };
  return {
    show(step, done, total) {
      if (step !== current?.step) {
        end();
        if (total === 0) return;
        write(`  ${step}  `);
        shownAt = Date.now();
      } else if (done < total && Date.now() - shownAt >= SHOW_INTERVAL_MS) {
        write(`${done}, `);
        shownAt = Date.now();
      }
      current = { step, done, total };
    },
    end,
  };
}
