/** Reports the progress of one step of a long operation. */
export type Progress = (step: string, done: number, total: number) => void;

const TERMINAL_INTERVAL_MS = 100;

/** Without a terminal, a step that takes longer prints a line, and another one after each interval. */
const LOG_INTERVAL_MS = 5000;

/**
 * Creates a display of progress on standard error: on a terminal, a line that changes and that `clear` removes. `clear` must be
 * called at the end, and before other output.
 */
export function createProgressDisplay(): { report: Progress; clear(): void } {
  const { isTTY } = process.stderr;
  let currentStep: string | undefined;
  let line = '';
  let timer: NodeJS.Timeout | undefined;

  const eraseLine = () => isTTY && process.stderr.write('\r\u001b[K');
  function print(): void {
    eraseLine();
    process.stderr.write(isTTY ? line : `${line}\n`);
  }
  function clear(): void {
    clearInterval(timer);
    eraseLine();
    currentStep = undefined;
  }
  return {
    report(step, done, total) {
      line = `  ${step}  ${done} of ${total}`;
      if (step === currentStep) return;
      clear();
      currentStep = step;
      timer = setInterval(print, isTTY ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS).unref();
    },
    clear,
  };
}

/** Runs a task and shows its steps on standard error. */
export async function showProgress<Result>(run: (progress: Progress) => Promise<Result>): Promise<Result> {
  const { report, clear } = createProgressDisplay();
  return run(report).finally(clear);
}
