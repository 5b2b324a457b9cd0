import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { launchBrowser, needsBrowser } from '../support/browser.js';
import { listen } from '../support/listen.js';
import { PASSWORD, startTestService } from '../support/service.js';

/** A global of the page. A part of this file runs there. */
declare const Image: new () => { src: string; onload?: () => void; onerror?: () => void };

/** Serves a page on another site, and returns its URL: `localhost` and `127.0.0.1` are different sites. */
async function serveHostilePage(t: Test): Promise<string> {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<p>Hello</p>'));
  return `http://localhost:${await listen(t, server, 'localhost')}/`;
}

t.test('a hostile page does not use up the limits of its visitors', needsBrowser, async (t) => {
  const service = await startTestService(t, { RATE_LIMIT_MAX: '300', RATE_LIMIT_STRICT_MAX: '20' });
  const { email, token } = await service.createUser();
  const browser = await launchBrowser(t);
  const page = await browser.newPage();
  await page.goto(await serveHostilePage(t));

  const sentPosts = await page.evaluate(async (url) => {
    const image = (index: number) =>
      new Promise<void>((resolve) => {
        const img = new Image();
        img.onload = img.onerror = () => resolve();
        img.src = `${url}/posts?limit=${index}`;
      });
    const post = () =>
      fetch(`${url}/auth/login`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'text' });
    const posts = await Promise.allSettled(Array.from({ length: 20 }, post));
    await Promise.all(Array.from({ length: 300 }, (_, index) => image(index)));
    return posts.filter(({ status }) => status === 'fulfilled').length;
  }, service.url);
  t.equal(sentPosts, 20, 'the browser has sent the requests');

  const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'));
  const login = await service.send('POST', '/auth/login', { json: { email, password: PASSWORD } });
  t.same([login.status, remaining(login)], [200, 19], 'only the visitor’s login has counted');
  const me = await service.send('GET', '/auth/me', { token });
  t.same([me.status, remaining(me)], [200, 299]);
  const crossSite = await service.send('GET', '/posts', { headers: { 'Sec-Fetch-Site': 'cross-site' } });
  t.equal(crossSite.status, 429, 'the page has used up its own bucket');
});
