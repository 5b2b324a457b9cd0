import { spawn } from 'node:child_process';
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

/** Starts a program that can use `log`, a logger that writes to standard output. */
function spawnLogging(t: Test, program: string, { stdout = 'pipe' as 'pipe' | number, logFormat = 'json' } = {}) {
  const module = import.meta.resolve('../../handlers/config/logger.js');
  const prelude = `
    import fs from 'node:fs';
    const { createLogger } = await import('${module}');
    const log = createLogger({ logLevel: 'info', logFormat: '${logFormat}' });
    const logLines = (count) => { for (let line = 0; line < count; line += 1) log.info({ line }, 'a line'); };`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', prelude + program], {
    stdio: ['ignore', stdout, 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

t.test('lines are complete in each write, so that those of several workers do not mix', async (t) => {
  const { stderr } = spawnLogging(
    t,
    `
    const { write } = fs;
    fs.write = (fd, text, ...rest) => {
      console.error(JSON.stringify(text));
      return write(fd, text, ...rest);
    };
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
  t.equal(writes.join('').match(/"msg":"a line"/g)?.length, 500);
});

t.test('lines that wait when the process exits are written', async (t) => {
  const { stdout } = spawnLogging(t, 'logLines(500); process.exit();');
  t.equal((await streamText(stdout as Readable)).match(/"msg":"a line"/g)?.length, 500);
});

t.test('a process exits although nobody reads its log', async (t) => {
  const child = spawnLogging(t, 'logLines(5000); process.exit();');
  const [code] = await once(child, 'exit');
  t.equal(code, 0);
});

const skip = existsSync('/dev/full') ? false : 'needs /dev/full';

t.test('a process runs and exits although its log cannot be written', { skip }, async (t) => {
  const fullDisk = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(fullDisk));
  const failedWrites = `
    console.log('not written');
    for (let round = 0; round < 3; round += 1) {
      logLines(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }`;
  for (const logFormat of ['json', 'text'])
    for (const before of [failedWrites, '']) {
      const program = `${before}; logLines(500); console.error('done'); process.exit();`;
      const child = spawnLogging(t, program, { stdout: fullDisk, logFormat });
      const [stderr, [code]] = await Promise.all([streamText(child.stderr as Readable), once(child, 'exit')]);
      t.equal(code, 0, logFormat);
      t.match(stderr, /^done$/m);
    }
});
