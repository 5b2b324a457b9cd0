import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openBar } from '../progress.js';
import { NoAnswer } from './client.js';
import { junitReport } from './junit.js';
import { report } from './report.js';
import { type Run, ruleNames, run, type Settings } from './run.js';

const USAGE =
  'npm run contract-test -- --base-url URL [--only PATTERN] [--junit FILE] [--seed SEED] [--timeout SECONDS] | --list';

/** The process's exit code. */
const KEPT = 0;
const BROKEN = 1;
const NOT_RUN = 2;
/** As shells say of a command that Ctrl-C has ended. */
const INTERRUPTED = 130;

/** The arguments are wrong: what is wrong with them. */
class Misused extends Error {}

function readArguments() {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      only: { type: 'string' },
      junit: { type: 'string' },
      seed: { type: 'string', default: randomBytes(6).toString('hex') },
      timeout: { type: 'string', default: '30' },
      list: { type: 'boolean', default: false },
    },
  });
  const timeout = Number(values.timeout) * 1000;
  if (!(timeout > 0)) throw new Misused(`--timeout: "${values.timeout}" is not a number of seconds`);
  return {
    ...values,
    timeout,
    selects: selector(values.only),
    baseUrl: values.list ? undefined : baseUrl(values['base-url']),
  };
}

function baseUrl(text: string | undefined): URL {
  if (text === undefined) throw new Misused(`--base-url is missing: ${USAGE}`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!plain) throw new Misused(`--base-url: "${text}" is not an http or https address without a path`);
  return url;
}

function selector(pattern: string | undefined): Settings['selects'] {
  if (pattern === undefined) return () => true;
  try {
    const expression = new RegExp(pattern, 'i');
    return (name) => expression.test(name);
  } catch {
    throw new Misused(`--only: "${pattern}" is not a regular expression`);
  }
}

/** Ctrl-C once ends the checking, and the accounts are deleted; twice, and they are left. */
function interruptions() {
  const [checking, deleting] = [new AbortController(), new AbortController()];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (checking.signal.aborted) deleting.abort();
      else console.error('Interrupted: deleting the accounts that were made. Once more leaves them.');
      checking.abort();
    });
  }
  return { signal: checking.signal, hurry: deleting.signal };
}

async function main(): Promise<number> {
  const { baseUrl, seed, timeout, selects, list, junit } = readArguments();
  const names = ruleNames().filter(selects);
  if (names.length === 0) throw new Misused('--only: no rule has such a name');
  if (list || !baseUrl) {
    console.log(names.join('\n'));
    return KEPT;
  }

  let bar: ReturnType<typeof openBar> | undefined;
  const clear = () => {
    bar?.stop();
    bar = undefined;
  };
  console.error(`The contract at ${baseUrl.origin}, seed ${seed}`);
  const result: Run = await run({
    baseUrl,
    seed,
    timeout,
    selects,
    ...interruptions(),
    progress(done, total) {
      bar ??= openBar('rules', total);
      bar.update(done);
    },
    say(line) {
      clear();
      console.error(line);
    },
  }).finally(clear);

  console.log(report(result));
  if (junit !== undefined) await writeFile(junit, junitReport(result));
  if (result.interrupted) return INTERRUPTED;
  return result.outcomes.some(({ verdict }) => verdict === 'broken') ? BROKEN : KEPT;
}

process.exitCode = await main().catch((error) => {
  const plain =
    error instanceof Misused ||
    error instanceof NoAnswer ||
    'syscall' in error ||
    String(error.code).startsWith('ERR_PARSE_ARGS');
  console.error(plain ? error.message : error);
  return NOT_RUN;
});
