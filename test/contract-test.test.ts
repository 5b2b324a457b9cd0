import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type RequestListener, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import t, { type Test } from 'tap';
import {
  type CheckedResponse,
  contract,
  createClient,
  createLimits,
  describeExchange,
  maskSecrets,
  type RequestContent,
  version,
} from '../scripts/contract-test/client/index.js';
import { findInFeed } from '../scripts/contract-test/fixtures.js';
import { textReport } from '../scripts/contract-test/report.js';
import { allRules, MAX_REQUESTS, type RuleResult } from '../scripts/contract-test/run.js';
import { selectRules } from '../scripts/contract-test/selection.js';
import { expectEmptyStores } from './support/consistency.js';
import { checkContract, failuresIn } from './support/contract-run.js';
import { listen } from './support/listen.js';
import { runCommand, script, spawnNode } from './support/processes.js';
import { LONG_TIMEOUTS, startTestService } from './support/service.js';
import { temporaryDirectory } from './support/stores.js';
import { until } from './support/until.js';

const COMMAND = 'contract-test/index';

/** Runs the contract tests as `npm run contract-test` does. */
const runContractTest = (t: Test, ...args: string[]) => runCommand(t, [COMMAND, ...args], {});

/** The service of the tests that need no other configuration. Each of them leaves its stores empty. */
const service = await startTestService(t, LONG_TIMEOUTS);
const countPosts = async () => (await service.stores.db.selectFrom('posts').select('id').execute()).length;

const SECRET = /eyJ[\w-]{20}|Quiet\.7|fc_session_token=e/;

// Parts of rule ids are lowercase words or operation ids.
const OPERATIONS = new Set(contract.map(({ id }) => id));
const isPart = (part: string) => /^[a-z0-9_]+(-[a-z0-9_]+)*$/.test(part) || OPERATIONS.has(part);

t.test('every rule has a unique id and a sentence, and every operation has rules', async (t) => {
  const ids = allRules.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.length >= 150, `${ids.length}`);
  const malformedIds = ids.filter((id) => !/^[a-z].*\../.test(id) || !id.split('.').every(isPart));
  t.same(malformedIds, []);
  const incompleteSentences = allRules.filter(({ sentence }) => !/^\S.{20,}\.$/.test(sentence));
  t.same(incompleteSentences, []);
  for (const { id: operation } of contract) {
    const named = ids.filter((id) => id.split('.').includes(operation));
    t.ok(named.length > 1 && named.includes(`document.${operation}`), operation);
  }
});

/** Rules that are skipped without accounts of the operator. */
const CLOSED = ['accounts.register.closed', 'accounts.register.closed.order'];

t.test('the service passes all rules, and all test data is deleted', async (t) => {
  let posts = 0;
  const onRulesChecked = async () => {
    posts = await countPosts();
  };
  const { results, counts, accounts, undeletedAccounts } = await checkContract(service.url, { onRulesChecked });
  t.ok(posts > 0, 'a report can be written before the accounts are deleted');
  t.same(failuresIn(results), []);
  // The rate limits of the service are too high to be exceeded, and the windows too long.
  const skipped = results.flatMap(({ id, verdict }) => (verdict === 'skipped' ? [id] : []));
  t.same(skipped, [...CLOSED, 'limits.exceeded.general', 'limits.new-window', 'limits.exceeded.strict']);
  t.same(
    results.map(({ id }) => id).sort(),
    allRules
      .filter(({ slow }) => !slow)
      .map(({ id }) => id)
      .sort(),
  );
  t.ok(accounts > 10);
  t.same(undeletedAccounts, []);
  await expectEmptyStores(t, service.stores);
  for (const bucket of ['strict', 'general'] as const) {
    const [announced, sent] = [MAX_REQUESTS[bucket], counts[bucket]];
    t.ok(sent <= announced && sent > announced / 3, `${bucket}: announced ${announced} requests, sent ${sent}`);
  }
});

/** Rules that fail on a lenient service: one on its own, and two with the same failure. */
const FAILING = ['http.cors.closed', 'sites.likePost', 'sites.unlikePost'];
const LENIENT = { CORS_ORIGINS: 'https://elsewhere.example' };

const only = (...patterns: string[]) => patterns.flatMap((pattern) => ['--only', pattern]);

/** Returns the paths of reports in a new folder, the arguments that create them, and a function that reads them. */
async function reportFiles(t: Test) {
  const folder = await temporaryDirectory(t);
  const junit = join(folder, 'junit.xml');
  const json = join(folder, 'report.json');
  return {
    args: ['--junit', junit, '--json', json],
    read: async () => {
      const xml = await readFile(junit, 'utf8');
      t.equal(XMLValidator.validate(xml), true);
      const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(xml);
      return { xml, testsuites, json: JSON.parse(await readFile(json, 'utf8')) };
    },
  };
}

t.test('a failed run exits with 1 and reports the request, the response and the expectation', async (t) => {
  const service = await startTestService(t, LENIENT);
  const files = await reportFiles(t);
  const selection = only(...FAILING, 'likes.unlike', 'limits.exceeded.strict', 'document.listPosts');
  const options = ['--base-url', `${service.url}/`, ...selection, ...files.args];
  const { code, output } = await runContractTest(t, ...options);
  t.equal(code, 1);
  t.match(output, `Contract ${version} at ${service.url}\n`);
  t.match(output, /^7 rules need about \d+ strict requests \(1000000 in a window\) and .*: no waiting\.$/m);
  t.match(output, /^ {2}Likes +2 passed$/m);
  t.match(output, /^Failed {3}http.cors.closed: Pages of other origins cannot read responses .*\.$/m);
  t.match(output, `curl -i -X GET '${service.url}/auth/me' \\\n`);
  t.match(output, /^ {6}-H 'Authorization: Bearer '"\$TOKEN" \\\n {6}-H 'Origin: https:\/\/elsewhere.example'$/m);
  t.match(output, /^ {2}Response:\n {4}200\n {4}access-control-allow-credentials: true\n/m);
  t.match(output, /^ {4}\{"id":\d+,"name":"Contract Tester"/m);
  t.match(output, /^ {2}Expected: no Access-Control-Allow-Origin for another origin$/m);
  t.match(output, /^Failed {3}sites.likePost: .*\n {2}Expected: status 403\n {2}Got: {6}status 400$/m);
  t.match(output, /^ {2}Same failure: sites.unlikePost$/m);
  t.match(output, /^Skipped {2}limits.exceeded.strict: .*\n {2}the strict limit of 1000000 is too high/m);
  t.match(output, /^Skipped {2}document.listPosts: .*\n {2}none of the selected rules requests this operation$/m);
  t.match(
    output,
    /^2 passed, 3 failed, 2 skipped; \d+ requests \(\d+ strict\), \d+ accounts, \d+\.\d s; 1 skipped because the strict limit of 1000000 is too high to exceed; 1 skipped because none of the selected rules requests this operation$/m,
  );
  await expectEmptyStores(t, service.stores);

  const { testsuites, xml, json } = await files.read();
  t.match(testsuites, { tests: '7', failures: '3', skipped: '2' });
  const cases: { name: string }[] = testsuites.testsuite.flatMap(({ testcase }: { testcase: unknown }) => testcase);
  const named = (id: string) => cases.find(({ name }) => name.startsWith(id)) as never;
  t.match(named('http.cors.closed'), {
    classname: 'HTTP, cookies and browsers',
    failure: { type: 'ContractFailure', '#text': /curl -i -X GET[\s\S]*Origin: https[\s\S]*Contract Tester/ },
  });
  t.match(named('sites.likePost'), { failure: { message: 'expected status 403, got status 400' } });
  t.match(named('limits.exceeded'), { skipped: { message: /^the strict limit of 1000000 is too high/ } });
  t.match(json, { contract: version, baseUrl: service.url, unchecked: 0, undeletedAccounts: [] });
  const corsRule = json.rules.find(({ id }: { id: string }) => id === 'http.cors.closed');
  t.match(corsRule, { failure: { response: { status: 200 } } });
  for (const text of [output, xml, JSON.stringify(json)]) t.notMatch(text, SECRET);
});

t.test('shows first what failed first', (t) => {
  const failures = ['2026-01-01T12:00:02.000Z', '2026-01-01T12:00:01.000Z', '2026-01-01T12:00:00.000Z'];
  const results = failures.map((time, index): RuleResult => {
    const failure = { time, expected: index === 1 ? 'a name' : 'a title' };
    return { subject: 'Posts', id: `posts.${index}`, sentence: 'A.', verdict: 'failed', seconds: 1, failure };
  });
  const counts = { strict: 0, general: 0 };
  const report = textReport({ results, unchecked: 0, counts, accounts: 0, undeletedAccounts: [], seconds: 1 });
  t.match(report, /Failed {3}posts\.2: [\s\S]*Same failure: posts\.0\n[\s\S]*Failed {3}posts\.1: /);
  t.end();
});

t.test('reports a request as a shell command that sends the same request', async (t) => {
  const argumentsOf = async (sent: RequestContent) => {
    const received = { status: 200, headers: new Headers(), body: undefined, bytes: Buffer.alloc(0) };
    const { request } = await describeExchange({ method: 'POST', url: 'http://host/a/../b?c=[1]', sent, received });
    // Prints the arguments, and the content of substituted files in Base64.
    const show = `curl() { for a; do case $a in *@/dev/fd/*) f=\${a#*@}; echo "<\${a%%@*}> $(base64 -w0 "\${f%%;*}") \${f#*;}";; *) echo "<$a>";; esac; done; }`;
    const secrets = { TOKEN: 'the token', PASSWORD: 'the password', CURRENT_PASSWORD: 'the old one' };
    const { stdout } = await promisify(execFile)('bash', ['-c', `${show}\n${request}`], {
      env: { ...process.env, ...secrets },
    });
    return stdout;
  };
  const image = new File([Buffer.from([0, 1, 255])], 'a.png', { type: 'image/png' });
  const form = '--form\r\nContent-Disposition: form-data; name="password"\r\n\r\nsecret\r\n--form--';
  for (const [sent, expected] of [
    [
      { token: 'eyJhbGciOiJIUzI1NiJ9.e30.abc' },
      /^<-i>\n<-X>\n<POST>\n<-g>\n<--path-as-is>\n<http:\/\/host\/a\/\.\.\/b\?c=\[1\]>\n<-H>\n<Authorization: Bearer the token>\n$/,
    ],
    [
      { json: { name: "O'Neil $HOME", password: 'Quiet.7\\"', n: 1 } },
      '<{"name":"O\'Neil $HOME","password":"the password","n":1}>',
    ],
    [
      { form: { title: 'a\tb\n\\', current_password: 'x' } },
      '<title=a\tb\n\\>\n<--form-string>\n<current_password=the old one>',
    ],
    [{ form: { image } }, '<image=> AAH/ filename="a.png";type=image/png'],
    [{ body: Buffer.from([0, 255]), headers: { Cookie: '' } }, /<Cookie;>\n<--data-binary>\n<> AP8= /],
    [{ repeated: ['Host', 'x', ''] }, /<Host: x>\n<-H>\n<Host;>\n/],
    [{ body: form }, /the password\r\n--form--/],
  ] as [RequestContent, string | RegExp][])
    t.match(await argumentsOf(sent), expected);
  t.equal(maskSecrets('of eyJhbGciOiJIUzI1NiJ9.e30.abc: 1'), 'of $TOKEN: 1');
});

/** Starts a server, which is closed when the test ends. Like a gateway, it responds with text to invalid HTTP. */
async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).on('clientError', (_, socket) =>
    socket.end('HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nBad Request'),
  );
  return `http://127.0.0.1:${await listen(t, server)}`;
}

/** Sends a JSON response, or an HTML response if the body is a string. */
const respond = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  const isText = typeof body === 'string';
  response
    .writeHead(status, { 'Content-Type': isText ? 'text/html' : 'application/json', ...headers })
    .end(isText ? body : JSON.stringify(body));
};

t.test('every rule fails against an implementation that sends malformed responses', async (t) => {
  let requests = 0;
  const url = await serve(t, (_, response) => {
    requests += 1;
    const errors = ['email', 'password'].map((field) => ({ in: 'body', field }));
    if (requests === 1) respond(response, 400, { message: 'no', errors });
    else response.setHeader('Content-Type', 'application/json').end('{');
  });
  const { results, accounts, undeletedAccounts } = await checkContract(url);
  const others = results.filter(({ verdict }) => verdict !== 'failed');
  t.same(
    others.map(({ id, verdict }) => [id, verdict]),
    CLOSED.map((id) => [id, 'skipped']),
  );
  t.ok(results.length > 400);
  t.same([accounts, undeletedAccounts], [0, []]);
});

t.test('creates no account on a service that is overloaded or does not implement the contract', async (t) => {
  const requestLines: string[] = [];
  const always =
    (status: number, body: unknown, headers = {}): RequestListener =>
    (_, response) =>
      respond(response, status, body, headers);
  const overloaded = { 'Retry-After': '0.01' };
  for (const [listener, message] of [
    [
      always(200, '<!doctype html>'),
      /^ {2}POST \/auth\/login with the JSON body \{\} returned 200 with text\/html, expected 400 with application\/json$/m,
    ],
    // As Prism does, a mock of the contract that stops at the first field and has no errors of its own for unknown paths.
    [
      ({ url }, response) => {
        if (url === '/auth/login') respond(response, 400, { message: 'no', errors: [{ in: 'body', field: 'email' }] });
        else if (/^\/(auth|friends)/.test(`${url}`)) respond(response, 401, { message: 'no' });
        else respond(response, 404, { title: 'no' });
      },
      /contract:\n {2}POST \/auth\/login .* do not name the field password of the body\n {2}GET \/contract-test\/\S+ .* without the field message$/,
    ],
    // A gateway that rejects every request.
    [
      always(401, { message: 'Unauthorized' }),
      /:\n {2}POST .* returned 401 .*\n {2}GET \/contract-test\/\S+ returned 401 [^\n]*$/,
    ],
    // Another API with the same paths.
    [
      ({ url }, response) =>
        respond(response, /^\/auth/.test(`${url}`) ? 401 : 404, { message: 'no', errors: ['email'] }),
      /\n {2}GET \/friends without credentials returned 404 with application\/json, expected 401 /,
    ],
    [always(302, '', { Location: '/login' }), / returned 302 with text\/html, expected 400 /],
    [always(301, '', { Location: 'https://there/v1/auth/login' }), / redirects to https:\/\/there\/v1: /],
    [always(503, 'no', overloaded), / responds with 503 to POST \/auth\/login: try again later$/],
    [always(429, 'no', overloaded), / responds with 429 to POST \/auth\/login: try again later$/],
  ] as [RequestListener, RegExp][]) {
    const url = await serve(t, (request, response) => {
      requestLines.push(`${request.method} ${request.url}`);
      listener(request, response);
    });
    await t.rejects(checkContract(url), { code: 'command_error', message });
  }
  t.same(
    new Set(requestLines),
    new Set(['POST /auth/login', 'GET /auth/me', 'GET /friends', 'GET /contract-test/no-such-path']),
  );
});

t.test('accepts a base URL with a path, a gateway, and an implementation without rate limits', async (t) => {
  const { port } = new URL(service.url);
  const url = await serve(t, (request, response) => {
    const [, prefix, path] = /^(\/v1|\/unlimited)(\/.*)$/.exec(request.url ?? '') ?? [];
    if (path === undefined) return respond(response, 404, { message: 'outside of the base path' });
    // Go's HTTP server, and so Caddy, responds itself to a URL with an invalid escape.
    if (/%(?![\da-f]{2})/i.test(path.replace(/\?.*/, ''))) return respond(response, 400, 'Bad Request');
    const { method, headers } = request;
    const onward = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (upstream) => {
      // Rewrites links as a gateway does.
      const { link } = upstream.headers;
      if (link !== undefined) upstream.headers.link = `${link}`.replace('<', `<${prefix}`);
      const sent = Object.entries(upstream.headers);
      const kept = prefix === '/v1' ? sent : sent.filter(([name]) => !name.includes('ratelimit'));
      response.writeHead(upstream.statusCode ?? 0, Object.fromEntries(kept));
      upstream.pipe(response);
    });
    request.pipe(onward);
  });
  for (const [base, ids] of [
    ['v1', /^(posts\.list\.(link|last)|posts\.create|http\.(docs|errors|head)|images\.)/],
    ['unlimited', /^(likes|posts\.idempotency-key)\./],
  ] as const) {
    const { results } = await checkContract(`${url}/${base}/`, { selects: ({ id }) => ids.test(id) });
    t.ok(results.length > 10);
    t.same(failuresIn(results), []);
  }
});

t.test('exits with 2 and one line if it cannot run', async (t) => {
  for (const [args, line] of [
    [['--json', '.'], /^EISDIR: /],
    [[], /^Contract .*\nno response to POST \/auth\/login: .*ECONNREFUSED/],
  ] as [string[], RegExp][]) {
    const { code, output } = await runContractTest(t, '--base-url', 'http://127.0.0.1:1', ...args);
    t.equal(code, 2, args.join(' '));
    t.match(output.trimEnd(), line);
    t.equal(output.trimEnd().split('\n').length, output.startsWith('Contract') ? 2 : 1, output);
  }
  const withTls = checkContract(service.url.replace('http:', 'https:'));
  await t.rejects(withTls, { message: /: the server does not use TLS, try http:/ });
});

t.test('exits with 2 and lists the options if the base URL is missing or invalid', async (t) => {
  for (const [args, line] of [
    [[], /^error: --base-url is missing$/m],
    [['--base-url', 'http://here/v1?x'], /^error: option '--base-url <url>' .* without query and credentials\.$/m],
  ] as [string[], RegExp][]) {
    const { code, output } = await runContractTest(t, ...args);
    t.equal(code, 2, args.join(' '));
    t.match(output, line);
    t.match(output, /^Usage: contract-test \[options\]$/m);
  }
});

t.test('--list needs no service', async (t) => {
  const { code, output } = await runContractTest(t, '--list', ...only('likes.like', 'Visibility.lik*.private'));
  t.equal(code, 0);
  const rules = allRules.filter(({ id }) => /^(likes\.like|visibility\.like\.private)/.test(id));
  t.same(output.trimEnd().split('\n').sort(), rules.map(({ id, sentence }) => `${id}: ${sentence}`).sort());
});

t.test('patterns select rules, slow ones only on request', async (t) => {
  const selected = selectRules({ only: ['likes.like', 'Visibility.lik*.private'], skip: ['*.i*'] });
  t.same(
    selected.map(({ id }) => id),
    ['likes.like.missing-post', 'likes.like.survives-hiding', 'visibility.like.private'],
  );
  t.same(selectRules({ slow: true }), allRules);
  const fast = allRules.filter(({ slow }) => !slow);
  t.same(selectRules({}), fast);
  t.throws(() => selectRules({ only: ['no.such*'] }), {
    message: 'no rule has an id like "no.such*": --list prints all ids',
  });
  t.throws(() => selectRules({ skip: ['*'] }), { message: 'no rule is selected; slow rules need --slow' });
});

const LIMIT_RULES = ['limits.exceeded', 'limits.new-window', 'limits.reset', 'limits.forged'];

t.test('waits for an exhausted rate limit instead of failing', async (t) => {
  const service = await startTestService(t, {
    RATE_LIMIT_STRICT_MAX: '8',
    RATE_LIMIT_MAX: '120',
    RATE_LIMIT_WINDOW: '2',
  });
  const { code, output } = await runContractTest(t, '--base-url', service.url, ...only('likes', ...LIMIT_RULES));
  t.equal(code, 0, output);
  t.match(output, /rules need about .* of waiting, less with higher RATE_LIMIT_MAX and RATE_LIMIT_STRICT_MAX\.$/m);
  t.match(output, /^The strict rate limit of 8 is used up: waiting \d+ s, until \d\d:\d\d:\d\d\.$/m);
  t.match(output, /^ {2}Rate limits +5 passed$/m, 'the limits are low enough to be exceeded');
  t.match(output, /^10 rules need about/m);
  t.match(output, /^10 passed; /m);
  t.notMatch(output, /skipped|failed/);
  await expectEmptyStores(t, service.stores);
});

t.test('retries a 503 after Retry-After, and returns it after the last retry', async (t) => {
  let refusals = 0;
  const url = await serve(t, (_, response) => {
    refusals -= 1;
    respond(response, refusals >= 0 ? 503 : 404, {}, { 'Retry-After': '0.01' });
  });
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const { signal } = new AbortController();
  const { send, counts, close } = createClient({
    baseUrl: new URL(url),
    observer: { onResponse: () => undefined, onExchange: () => undefined },
    log,
    signal,
  });
  t.teardown(close);
  refusals = 2;
  t.equal((await send('GET /posts/7?page=1')).status, 404);
  t.same(lines, Array(2).fill('503 for GET /posts/7: retrying in 0.01 s.'));
  refusals = 100;
  t.equal((await send('GET /posts/7')).status, 503);
  t.same(counts, { strict: 0, general: 10 });
});

t.test('does not wait for a window whose end is not stated in seconds', async (t) => {
  const { update, states } = createLimits(t.fail);
  const headers = { 'X-RateLimit-Limit': '9', 'X-RateLimit-Remaining': '0', 'RateLimit-Policy': '"general";q=9;w=900' };
  update('general', new Headers({ ...headers, 'X-RateLimit-Reset': '1790000000' }));
  t.equal(states.general.remaining, undefined);
  update('general', new Headers({ ...headers, 'X-RateLimit-Reset': '900' }));
  t.equal(states.general.remaining, 0);
});

t.test('announces a wait once, although each response announces a slightly different end of the window', async (t) => {
  const lines: string[] = [];
  const { acquire, update } = createLimits((line) => lines.push(line));
  const headers = { 'X-RateLimit-Limit': '9', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '900' };
  const controller = new AbortController();
  const waits = [];
  for (let requests = 0; requests < 3; requests += 1) {
    const time = Date.now();
    await until(() => Date.now() > time);
    update('general', new Headers(headers));
    waits.push(acquire('general', controller.signal));
  }
  controller.abort();
  for (const { status } of await Promise.allSettled(waits)) t.equal(status, 'rejected');
  t.equal(lines.length, 1, lines.join());
});

t.test('the search for a post ends if the service ignores the offset', async (t) => {
  const body = Array.from({ length: 20 }, (_, index) => ({ id: 100 - index }));
  let requests = 0;
  const send = async () => {
    requests += 1;
    if (requests > 9) throw new Error('endless');
    return { status: 200, headers: new Headers(), body, bytes: Buffer.alloc(0) } as unknown as CheckedResponse;
  };
  await t.rejects(findInFeed({ send }, { id: 7 }, 20), { message: 'other posts with offset=45' });
});

t.test('on Ctrl-C writes the reports and deletes the accounts before it exits', async (t) => {
  const files = await reportFiles(t);
  const { child, output } = spawnNode(t, [script(COMMAND), '--base-url', service.url, ...files.args], {});
  await until(async () => (await countPosts()) > 0);
  // In a terminal, the signal arrives twice: from the terminal, and from npm, which passes it on.
  child.kill('SIGINT');
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  t.equal(code, 130);
  const lines = output()
    .split('\n')
    .filter((line) => line.trim() !== '');
  t.same(lines, [...new Set(lines)], 'each line appears once');
  t.match(output(), /^Interrupted: deleting the accounts/m);
  t.match(output(), /^\d+ passed.*, \d+ not checked because of the interrupt; /m);
  t.notMatch(output(), /Accounts that could not be deleted/);
  await expectEmptyStores(t, service.stores);
  const { json, testsuites } = await files.read();
  t.match(json, { undeletedAccounts: [] });
  t.ok(json.unchecked > 100);
  t.equal(Number(testsuites.tests), json.rules.length);
});
