import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import t, { type Test } from 'tap';
import { createClient } from '../scripts/contract-test/client.js';
import { contract } from '../scripts/contract-test/document.js';
import { createLimits } from '../scripts/contract-test/limits.js';
import { ruleNames, WHOLE_RUN } from '../scripts/contract-test/run.js';
import { holdings, nothing } from './contents.js';
import { checkContract } from './contract-run.js';
import { startTestService } from './harness.js';
import { runCommand, script, spawnNode } from './processes.js';
import { temporaryDirectory } from './stores.js';

const COMMAND = 'contract-test/index';

/** The command, as `npm run contract-test` runs it. */
const command = (t: Test, ...parameters: string[]) => runCommand(t, [COMMAND, ...parameters], {});

const SECRET = /eyJ[\w-]{20}|Quiet\.7|fc_session_token=e/;

t.test('every rule has a name of its own, and every operation rules that name it', async (t) => {
  const names = ruleNames();
  t.equal(new Set(names).size, names.length);
  t.ok(names.length >= 150, `${names.length}`);
  for (const { id, method, path } of contract) {
    t.ok(
      names.some((name) => name.endsWith(`: ${method} ${path}`)),
      `${method} ${path}`,
    );
    t.ok(
      names.some((name) => name.startsWith(`openapi.yaml, ${id}: `)),
      id,
    );
  }
});

t.test('the service keeps all rules, and nothing is left behind', async (t) => {
  const service = await startTestService(t);
  const { outcomes, counts, people, left } = await checkContract(service.url);
  t.same(
    outcomes.filter(({ verdict }) => verdict === 'broken'),
    [],
  );
  // The limit is too high to be used up.
  t.same(
    outcomes.flatMap(({ rule, verdict }) => (verdict === 'skipped' ? [rule.split(':')[0]] : [])),
    ['Limits'],
  );
  t.same(outcomes.map(({ rule }) => rule).sort(), ruleNames().sort());
  t.ok(people > 10);
  t.same(left, []);
  t.same(await holdings(service.stores), nothing);
  for (const bucket of ['strict', 'general'] as const) {
    const [said, sent] = [WHOLE_RUN[bucket], counts[bucket]];
    t.ok(Math.abs(sent - said) < said / 10, `${bucket}: it is said to take ${said} requests, and took ${sent}`);
  }
});

t.test('a run that keeps all rules ends with 0, and writes JUnit XML', async (t) => {
  const service = await startTestService(t);
  const file = join(await temporaryDirectory(t), 'report.xml');
  const { code, output } = await command(
    t,
    '--base-url',
    service.url,
    '--only',
    '^Visibility rules 4|^Limits: Exceeding',
    '--seed',
    'abc',
    '--junit',
    file,
  );
  t.equal(code, 0, output);
  t.match(output, `The contract at ${service.url}, seed abc`);
  t.match(output, /^3 rules need about \d+ strict requests \(1000000 in a window\) and .*: no waiting\.$/m);
  t.match(output, /^ {2}Visibility +2 kept$/m);
  t.match(output, /^Skipped {2}Limits: Exceeding/m);
  t.match(output, /; \d+ requests \(\d+ strict\), \d+ people, \d+\.\d s$/m);
  t.notMatch(output, SECRET);
  t.same(await holdings(service.stores), nothing);

  const xml = await readFile(file, 'utf8');
  t.equal(XMLValidator.validate(xml), true);
  const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(xml);
  t.match(testsuites, { tests: '3', failures: '0', skipped: '1' });
  t.same(
    testsuites.testsuite.map(({ name }: { name: string }) => name),
    ['Visibility', 'Rate limits'],
  );
});

t.test('a broken rule ends it with 1: what was sent, what came, what is wanted; nothing is left behind', async (t) => {
  const service = await startTestService(t, { CORS_ORIGINS: 'https://elsewhere.example' });
  const file = join(await temporaryDirectory(t), 'report.xml');
  const { code, output } = await command(
    t,
    '--base-url',
    `${service.url}/`,
    '--only',
    'CORS is closed|another site: 403: POST /posts/create',
    '--junit',
    file,
  );
  t.equal(code, 1);
  t.match(output, /^Broken {3}Beyond the contract: CORS is closed unless CORS_ORIGINS names origins$/m);
  t.match(output, /^ {2}sent {4}GET \/auth\/me {2}with a token {2}Origin="https:\/\/elsewhere\.example"$/m);
  t.match(output, /^ {2}came {4}200 {2}\{"id":\d+,"name":"Contract Tester"/m);
  t.match(output, /^ {2}wanted {2}no leave for a page of elsewhere$/m);
  t.match(output, /^0 kept, 2 broken; /m);
  t.notMatch(output, SECRET);
  t.same(await holdings(service.stores), nothing);

  const xml = await readFile(file, 'utf8');
  t.equal(XMLValidator.validate(xml), true);
  t.match(xml, /<testsuites tests="2" failures="2"/);
  t.match(xml, /no leave for a page of elsewhere/);
  t.notMatch(xml, SECRET);
});

t.test('an implementation that answers nonsense breaks rules, each for itself', async (t) => {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'application/json').end('{'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { outcomes, people, left } = await checkContract(`http://127.0.0.1:${port}`);
  t.same(
    outcomes.filter(({ verdict }) => verdict !== 'broken'),
    [],
  );
  t.ok(outcomes.length > 400);
  t.same([people, left], [0, []]);
});

t.test('what cannot be run ends it with 2 and one line', async (t) => {
  const none = 'http://127.0.0.1:1';
  for (const [parameters, line] of [
    [[], /^--base-url is missing: /],
    [['--base-url', 'here'], /^--base-url: "here" is not an http or https address/],
    [['--base-url', 'ftp://here'], /^--base-url: /],
    [['--base-url', 'http://here/v1'], /^--base-url: .* without a path$/],
    [['--base-url', none, '--only', '('], /^--only: "\(" is not a regular expression$/],
    [['--base-url', none, '--only', 'no such rule'], /^--only: no rule has such a name$/],
    [['--base-url', none, '--timeout', 'long'], /^--timeout: /],
    [['--nonsense'], /nonsense/],
    [['--base-url', none], /^The contract at .*\nno answer to GET \/auth\/me: .*ECONNREFUSED/],
  ] as [string[], RegExp][]) {
    const { code, output } = await command(t, ...parameters);
    t.equal(code, 2, parameters.join(' '));
    t.match(output.trimEnd(), line);
    t.equal(output.trimEnd().split('\n').length, output.startsWith('The contract at') ? 2 : 1, output);
  }
});

t.test('--list tells the names of the rules, and needs no service', async (t) => {
  const { code, output } = await command(t, '--list', '--only', '^likes|^visibility rules 4');
  t.equal(code, 0);
  t.match(output, 'Visibility rules 4: Only posts the requester can see can be liked or unliked. Others give 404\n');
  t.equal(output.trimEnd().split('\n').length, 2);
});

t.test('a limit that is used up is waited for, never a failure', async (t) => {
  const service = await startTestService(t, {
    RATE_LIMIT_STRICT_MAX: '6',
    RATE_LIMIT_MAX: '40',
    RATE_LIMIT_WINDOW: '1',
  });
  const { code, output } = await command(
    t,
    '--base-url',
    service.url,
    '--only',
    '^Visibility rules [45]|^Limits: Exceeding',
  );
  t.equal(code, 0, output);
  t.match(output, /rules need about .* of waiting\. RATE_LIMIT_MAX and RATE_LIMIT_STRICT_MAX, /);
  t.match(output, /^The strict rate limit of 6 is used up: waiting \d+ s, until \d\d:\d\d:\d\d\.$/m);
  t.match(output, /^ {2}Rate limits +1 kept$/m, 'the limit is low enough to see what exceeding it gives');
  t.notMatch(output, /skipped|broken/);
  t.same(await holdings(service.stores), nothing);
});

t.test('a 503 is asked again, as it says, and is an answer in the end', async (t) => {
  let refusals = 0;
  const server = createServer((_, response) => {
    refusals -= 1;
    response
      .writeHead(refusals >= 0 ? 503 : 404, { 'Retry-After': '0.01', 'Content-Type': 'application/json' })
      .end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const { signal } = new AbortController();
  const { ask, counts, close } = createClient({
    baseUrl: new URL(`http://127.0.0.1:${port}`),
    timeout: 30_000,
    limits: createLimits(say, signal),
    observer: { answered: () => undefined, exchanged: () => undefined },
    say,
    signal,
    hurry: signal,
  });
  t.teardown(close);
  refusals = 2;
  t.equal((await ask('GET /posts/7?page=1')).status, 404);
  t.same(lines, Array(2).fill('503 to GET /posts/7: asking again in 0.01 s.'));
  refusals = 100;
  t.equal((await ask('GET /posts/7')).status, 503);
  t.same(counts, { strict: 0, general: 7 });
});

t.test('Ctrl-C ends it, but not before the accounts are deleted', async (t) => {
  const service = await startTestService(t);
  const { child, output } = spawnNode(t, [script(COMMAND), '--base-url', service.url], {});
  while ((await holdings(service.stores)).posts === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  t.equal(code, 130);
  t.match(output(), /^Interrupted: deleting the accounts/m);
  t.match(output(), /^Interrupted: the other rules were not checked\.$/m);
  t.notMatch(output(), /Accounts that could not be deleted/);
  t.same(await holdings(service.stores), nothing);
});
