import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { readConfig } from '../../handlers/config/index.js';
import { createLogger } from '../../handlers/config/logger.js';

/** Returns a logger, and the lines it has written. */
function createTestLogger(environment: NodeJS.ProcessEnv, isTTY: boolean) {
  const lines: string[] = [];
  const write = (line: string) => {
    lines.push(line);
  };
  return { log: createLogger(readConfig(environment), { write, isTTY }), lines };
}

/** A device to which every write fails, as on a full disk. */
const FULL = '/dev/full';

const REQUEST = { method: 'POST', route: '/posts/create', status: 201, ms: 16.2 };

t.test('writes text to a terminal and JSON elsewhere, unless LOG_FORMAT decides', async (t) => {
  for (const [LOG_FORMAT, isTTY, isText] of [
    [undefined, true, true],
    [undefined, false, false],
    ['json', true, false],
    ['text', false, true],
  ] as const) {
    const { log, lines } = createTestLogger({ LOG_FORMAT }, isTTY);
    log.child({ reqId: 'id' }).info(REQUEST, 'request');
    t.equal(lines.length, 1);
    if (isText) t.equal(lines[0], 'POST /posts/create 201 16 ms\n');
    else t.match(JSON.parse(lines[0] ?? ''), { ...REQUEST, reqId: 'id', level: 30, pid: process.pid, msg: 'request' });
  }
});

t.test('omits request and response objects', async (t) => {
  const { log, lines } = createTestLogger({}, false);
  const details = { headers: { authorization: 'Bearer secret' } };
  log.info({ ...REQUEST, req: details, res: details }, 'request');
  t.match(lines, [/"msg":"request"/]);
  t.notMatch(lines[0], 'secret');
});

t.test('text shows levels, fields and errors, and no control characters', async (t) => {
  const { log, lines } = createTestLogger({}, true);
  log.info({ ...REQUEST, route: null, status: 404 }, 'request');
  log.child({ reqId: 'id' }).info({ event: 'login_failed', accountId: 7 }, 'security event');
  log.warn({ store: 'gr\u202eaph\u001b[2J' }, 'store unavailable');
  log.debug('not logged at level info');
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), { detail: 'secret' });
  log.error({ err: error }, 'internal server error');
  t.same(lines.slice(0, 3), [
    'POST (unknown path) 404 16 ms\n',
    'security event event=login_failed accountId=7 reqId=id\n',
    'warn: store unavailable store=gr�aph�[2J\n',
  ]);
  t.equal(lines.length, 4);
  t.match(lines[3], /^error: internal server error\nError: outer\n {4}at .*\nCause: inner\n$/s);
  t.notMatch(lines[3], 'secret');
  error.stack = undefined as never;
  log.error({ err: error }, 'service unavailable');
  t.equal(lines[4], 'error: service unavailable\nError: outer\nCause: inner\n');
});

/** The arguments of Node for a program that exits while lines wait. */
const LINES_AND_EXIT = [
  '--input-type=module',
  '--eval',
  `const { createLogger } = await import('${import.meta.resolve('../../handlers/config/logger.js')}');
  const log = createLogger({ logLevel: 'info', logFormat: 'json' });
  for (let line = 0; line < 500; line += 1) log.info({ line }, 'a line');
  process.exit();`,
];

t.test('lines that wait when the process exits are written', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, LINES_AND_EXIT);
  const lines = stdout.trimEnd().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line).line).sort((a, b) => a - b),
    Array.from({ length: 500 }, (_, index) => index),
  );
});

t.test('a process whose log is on a full disk exits', { skip: !existsSync(FULL) && `needs ${FULL}` }, async (t) => {
  const full = await open(FULL, 'w');
  t.teardown(() => full.close());
  const child = spawn(process.execPath, LINES_AND_EXIT, {
    stdio: ['ignore', full.fd, 'inherit'],
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  t.same(await once(child, 'exit'), [0, null]);
});
