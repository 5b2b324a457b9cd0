import { createServer } from 'node:http';
import t, { Test } from 'tap';
import { listen } from '../support/listen.js';
import { createSender } from '../support/requests.js';

t.test('a failed assertion of a subtest prints the requests before it, without secrets', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(418, { 'Content-Type': 'application/json' }).end('{"message":"I am a teapot","token":"secret"}');
  });
  const errors = t.capture(console, 'error');
  const failing = new Test({ name: 'a failing test' });
  failing.resume();
  const send = createSender(failing, `http://127.0.0.1:${await listen(t, server)}`);
  const body = JSON.stringify({ password: 'Quiet-Harbour-27!' });
  await failing.test('a subtest', async (subtest) => {
    for (let request = 1; request <= 7; request++) await send('POST', `/tea/${request}`, { body, token: 'secret' });
    subtest.ok(true);
    subtest.ok(false, 'the assertion');
    await send('GET', '/later');
  });
  const printed = errors().map(({ args }) => args.join());
  t.equal(printed.length, 1);
  t.match(printed[0], 'Requests before the failed assertion “the assertion”:');
  t.match(
    printed[0],
    '  POST /tea/7\n    {"password":"$PASSWORD"}\n    → 418 {"message":"I am a teapot","token":"$TOKEN"}',
  );
  t.same(printed[0]?.match(/\/tea\/\d/g), ['/tea/3', '/tea/4', '/tea/5', '/tea/6', '/tea/7']);
  t.notMatch(printed[0], /Quiet|secret|later/);
});
