import { createInterface } from 'node:readline';

interface Terminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Asks a question on a terminal. Returns whether the answer is yes; Ctrl-C and Ctrl-D mean no. */
export async function askYes(question: string, { input, output }: Terminal): Promise<boolean> {
  const terminal = createInterface({ input, output });
  const answer = await new Promise<string>((resolve) =>
    terminal.once('close', () => resolve('\n')).question(`${question} [y/N] `, resolve),
  );
  terminal.close();
  if (answer === '\n') output.write('\n');
  return /^y(es)?$/i.test(answer.trim());
}
