import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { EMPTY_CONTENTS, readContents } from './support/contents.js';
import { startTestService } from './support/service.js';

interface TourResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the tour as `npm run tour` does. */
async function runTour(BASE_URL: string): Promise<TourResult> {
  const run = promisify(execFile)(process.execPath, ['.build/scripts/tour.js'], {
    env: { PATH: process.env.PATH, BASE_URL },
  });
  return run.then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

const service = await startTestService(t);

t.test('the tour shows each step and deletes its accounts', async (t) => {
  const { code, stdout, stderr } = await runTour(`${service.url}/`);
  t.equal(code, 0);
  t.equal(stderr, '');
  for (const step of [
    /1\. Ada registers\n +POST \/auth\/register .*\n +201 {2}\{"id":\d+\}/,
    /Ada creates a post with an image\n +POST \/posts\/create .*\n +201 .*"image":"\/posts\/image\/\w+\.png"/,
    /Ben can no longer see the post\n +GET \/posts\/\d+\n +404 /,
    /Ada accepts the request\n +POST \/friends\/accept\?from=\d+\n +200 /,
    /with his like\n +GET \/posts\/\d+\n +200 .*"like_count":1,"liked_by_me":true/,
    /Ben deletes the account.*\n +DELETE \/profiles\/me .*\n +200 /,
  ]) {
    t.match(stdout, step);
  }
  t.match(stdout, /"token":"[^"]{8}…"/);
  t.notMatch(stdout, /eyJ[\w-]{20}/, 'no token is printed completely');
  t.notMatch(stdout, /Tour!/, 'no password is printed');
  t.notOk(stdout.includes('\u001b'), 'no colours are printed to a pipe');
  t.same(await readContents(service.stores), EMPTY_CONTENTS);
});

t.test('an unexpected status exits with 1 and names the step, after both accounts are deleted', async (t) => {
  const limited = await startTestService(t, { RATE_LIMIT_MAX: '4' });
  const { code, stdout, stderr } = await runTour(limited.url);
  t.equal(code, 1);
  t.match(stdout, /\n +429 /);
  t.match(stderr, /^Step \d+: expected status \d+\.\n$/);
  t.same(await readContents(limited.stores), EMPTY_CONTENTS);
});

t.test('reports in one line that no service is running', async (t) => {
  await service.stop();
  const { code, stderr } = await runTour(service.url);
  t.equal(code, 1);
  t.match(stderr, /^No response from http:.*ECONNREFUSED.*\n$/);
});
