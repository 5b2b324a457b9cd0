import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text as streamText } from 'node:stream/consumers';
import t, { type Test } from 'tap';
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
    else t.match(JSON.parse(lines[0] ?? ''), { ...REQUEST, reqId: 'id', level: 30, msg: 'request' });
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
  log.warn({ store: 'graph\u001b[2J' }, 'store unavailable');
  log.debug('not logged at level info');
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), { detail: 'secret' });
  log.error({ err: error }, 'internal server error');
  t.same(lines.slice(0, 3), [
    'POST (unknown path) 404 16 ms\n',
    'security event event=login_failed accountId=7 reqId=id\n',
    'warn: store unavailable store=graph�[2J\n',
  ]);
  t.equal(lines.length, 4);
  t.match(lines[3], /^error: internal server error\nError: outer\n {4}at .*\nCause: inner\n$/s);
  t.notMatch(lines[3], 'secret');
});

/** Returns a program that can use `fs`, `log`, a logger that writes to standard output, and `logLines`. */
const loggingProgram = (program: string, logFormat = 'json') => `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import { setTimeout as sleep } from 'node:timers/promises';
  const { writeSync } = fs;
  const replaceWriteSync = (replacement) => { fs.writeSync = replacement; syncBuiltinESMExports(); };
  const { createLogger } = await import('${import.meta.resolve('../../handlers/config/logger.js')}');
  const log = createLogger({ logLevel: 'info', logFormat: '${logFormat}' });
  const logLines = (count, more = '') => {
    for (let line = 0; line < count; line += 1) log.info({ line, more }, 'a line');
  };
  ${program}`;

/** Starts a program, which is killed when the test ends. `reader` is a shell command that reads its standard output. */
function spawnLogging(
  t: Test,
  program: string,
  { stdout = 'pipe' as 'pipe' | number, logFormat = 'json', reader = '' } = {},
) {
  const command = `${reader ? '' : 'exec '}"$0" --input-type=module --eval "$1"${reader && ` | ${reader}`}`;
  const child = spawn('bash', ['-c', command, process.execPath, loggingProgram(program, logFormat)], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Checks that the output consists of complete lines, numbered from 0. */
function expectLines(t: Test, output: string, count: number): void {
  const lines = output.trimEnd().split('\n');
  t.same(
    lines.map((line) => JSON.parse(line).line),
    Array.from({ length: count }, (_, index) => index),
  );
}

/** Longer than a process waits at its exit, even on a busy machine. */
const exitOf = async (child: ChildProcess) => (await once(child, 'exit', { signal: AbortSignal.timeout(30_000) }))[0];

t.test('lines are complete in each write, so that those of several workers do not mix', async (t) => {
  const { stderr } = spawnLogging(
    t,
    `
    replaceWriteSync((fd, bytes) => {
      console.error(JSON.stringify(String(bytes)));
      return writeSync(fd, bytes);
    });
    logLines(500);`,
  );
  const writes: string[] = (await streamText(stderr as Readable))
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  t.ok(writes.length > 2);
  for (const text of writes) {
    t.ok(Buffer.byteLength(text) <= 4096);
    t.match(text, /^\{.*\}\n$/s);
  }
  expectLines(t, writes.join(''), 500);
});

t.test('lines that wait when the process exits are written', async (t) => {
  const { stdout } = spawnLogging(t, 'logLines(500); process.exit();');
  expectLines(t, await streamText(stdout as Readable), 500);
});

t.test('lines are complete even if the pipe is full when the process exits, because its reader is slow', async (t) => {
  const program = "logLines(40, 'x'.repeat(9000)); await sleep(200); process.exit();";
  const { stdout } = spawnLogging(t, program, { reader: '(sleep 0.5; cat)' });
  expectLines(t, await streamText(stdout as Readable), 40);
});

t.test('a write that fails is repeated at the exit', async (t) => {
  const program = `
    let calls = 0;
    replaceWriteSync((fd, bytes) => {
      calls += 1;
      if (calls === 1) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return writeSync(fd, bytes);
    });
    logLines(20);
    await sleep(20);
    process.exit();`;
  const { stdout } = spawnLogging(t, program);
  expectLines(t, await streamText(stdout as Readable), 20);
});

t.test('lines that an exit handler logs are written', async (t) => {
  const { stdout } = spawnLogging(t, "process.on('exit', () => logLines(3)); await sleep(20); process.exit();");
  expectLines(t, await streamText(stdout as Readable), 3);
});

t.test('the process exits even if nothing reads its standard output', async (t) => {
  t.equal(await exitOf(spawnLogging(t, 'logLines(5000); process.exit();')), 0);
});

const skip = existsSync('/dev/full') ? false : 'needs /dev/full';

t.test('the process runs and exits even if its log cannot be written', { skip }, async (t) => {
  const fullDisk = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(fullDisk));
  const failedWrites = `
    console.log('not written');
    for (let round = 0; round < 3; round += 1) {
      logLines(1);
      await sleep(20);
    }`;
  for (const logFormat of ['json', 'text'])
    for (const before of [failedWrites, '']) {
      const program = `${before}; logLines(500); console.error('done'); process.exit();`;
      const child = spawnLogging(t, program, { stdout: fullDisk, logFormat });
      const [stderr, code] = await Promise.all([streamText(child.stderr as Readable), exitOf(child)]);
      t.equal(code, 0, logFormat);
      t.match(stderr, /^done$/m);
    }
});
