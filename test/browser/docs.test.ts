import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { contract } from '../../scripts/contract-test/document.js';
import { samples } from '../../scripts/contract-test/images.js';
import { launchBrowser, needsBrowser } from '../support/browser.js';
import { PASSWORD, startTestService } from '../support/service.js';

if (needsBrowser.skip) t.pass('the explorer in a browser', needsBrowser);
else await testExplorer();

async function testExplorer() {
  const service = await startTestService(t);
  const browser = await launchBrowser(t);
  const tagOf = await readTags(service.url);
  const tags = [...new Set(Object.values(tagOf))];
  /** Errors and forbidden requests of all pages, which the last test checks. */
  const violations: string[] = [];

  async function newPage(t: Test, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    t.teardown(() => context.close());
    return context.newPage();
  }

  /** Opens the explorer, and records violations. */
  async function openExplorer(t: Test, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await newPage(t, options);
    page.on('request', (request) => {
      const { protocol, origin, href } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== service.url) violations.push(`a request to ${href}`);
    });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) violations.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => violations.push(`script error: ${error.message}`));
    await page.goto(`${service.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return page;
  }

  const block = (page: Page, id: string) => page.locator(`#operations-${tagOf[id]}-${id}`);

  async function unfold(page: Page, id: string): Promise<Locator> {
    const operation = block(page, id);
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.execute').waitFor();
    return operation;
  }

  /** Fills in an operation's form, presses Execute, and returns the displayed response with its status. */
  async function execute(page: Page, id: string, fill?: (form: Locator) => Promise<unknown>) {
    const operation = await unfold(page, id);
    await fill?.(operation);
    await operation.locator('.execute').click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    const status = Number(await response.locator('.response-col_status').textContent());
    return { status, response };
  }

  /** Enters a token, and returns the number of kinds of credentials that the dialog offers. */
  async function authorize(page: Page, token: string): Promise<number> {
    await page.locator('.auth-wrapper .authorize').click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByRole('heading', { name: 'bearerAuth' }).waitFor();
    const kinds = await dialog.locator('.auth-container').count();
    await dialog.locator('input').fill(token);
    await dialog.locator('button.authorize').click();
    await dialog.locator('button.btn-done').click();
    return kinds;
  }

  const parameter = (form: Locator, name: string) =>
    form.locator(`[data-param-name="${name}"] input, [data-property-name="${name}"] input`);
  const json = (value: object) => (form: Locator) => form.locator('textarea').fill(JSON.stringify(value));
  const bodyOf = async (response: Locator) =>
    JSON.parse((await response.locator('.highlight-code code').textContent()) ?? '');

  t.test('shows every operation of the contract, and links to each tag', async (t) => {
    const page = await openExplorer(t);
    for (const { id } of contract) t.equal(await block(page, id).count(), 1, id);
    t.equal(await page.locator('.opblock').count(), contract.length);
    for (const tag of tags) {
      await page.getByRole('navigation').getByRole('link', { name: tag, exact: true }).click();
      const top = `document.querySelector('#operations-tag-${tag}').getBoundingClientRect().top`;
      await until(page, `${top} >= 0 && ${top} < innerHeight`);
    }
  });

  t.test('allows only scripts and styles that the service serves', async (t) => {
    const { headers } = await service.send('GET', '/docs');
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
      t.ok(policy.includes(rule), rule);
    }
    const page = await newPage(t);
    await page.goto(`${service.url}/docs`);
    const title = await page.evaluate(`
      document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "injected"' }));
      document.title`);
    t.match(title, 'API explorer');
  });

  t.test('a user can register, log in and continue with the cookie', async (t) => {
    const page = await openExplorer(t);
    const email = 'explorer@people.example';
    const newcomer = { name: 'Ex Plorer', username: 'explorer', email, password: PASSWORD };
    t.equal((await execute(page, 'register', json(newcomer))).status, 201);
    t.equal((await execute(page, 'login', json({ email, password: PASSWORD }))).status, 200);
    const me = await execute(page, 'getCurrentAccount');
    t.equal(me.status, 200);
    t.match(await bodyOf(me.response), { username: 'explorer', email });

    const created = await execute(page, 'createPost');
    t.equal(created.status, 201, 'an empty file input is not sent');
    t.match(await bodyOf(created.response), { author_username: 'explorer', image: null });

    const updated = await execute(page, 'updateProfile', (form) =>
      form.locator('[data-property-name="private"] select').selectOption('true'),
    );
    t.equal(updated.status, 200);
    t.match(await bodyOf(updated.response), { name: 'Ex Plorer', private: true }, 'nothing else has changed');
  });

  t.test('on a phone a user can authorize with a token, and post, view and like an image', async (t) => {
    const page = await openExplorer(t, { viewport: { width: 390, height: 844 } });
    const credentials = { email: 'rider@people.example', password: PASSWORD };
    const registered = await execute(page, 'register', json({ name: 'Rider', username: 'rider', ...credentials }));
    t.equal(registered.status, 201);
    const login = await execute(page, 'login', json(credentials));
    const { token } = await bodyOf(login.response);
    await page.context().clearCookies();
    t.equal(await authorize(page, token), 1, 'a cookie cannot be entered');

    const created = await execute(page, 'createPost', async (form) => {
      await parameter(form, 'title').fill('Seen on the way');
      await form
        .locator('input[type=file]')
        .setInputFiles({ name: 'way.png', mimeType: 'image/png', buffer: samples.png });
    });
    t.equal(created.status, 201);
    const post = await bodyOf(created.response);

    const image = await execute(page, 'getPostImage', (form) =>
      parameter(form, 'filename').fill(post.image.replace('/posts/image/', '')),
    );
    await image.response.locator('img').waitFor();
    const width = `document.querySelector('#operations-posts-getPostImage img').naturalWidth`;
    t.equal(await page.evaluate(width), 1);

    t.equal((await execute(page, 'likePost', (form) => parameter(form, 'id').fill(`${post.id}`))).status, 200);
    const read = await execute(page, 'getPost', (form) => parameter(form, 'id').fill(`${post.id}`));
    t.match(await bodyOf(read.response), { title: 'Seen on the way', like_count: 1, liked_by_me: true });
    const stored = 'localStorage.length + sessionStorage.length + document.cookie.length';
    t.equal(await page.evaluate(stored), 0, 'the page does not store the token');
    t.equal((await execute(page, 'logout')).status, 200);
    t.equal((await service.send('GET', '/auth/verify', { token })).status, 401);
  });

  t.test('fits a narrow screen and follows the color scheme', async (t) => {
    const page = await openExplorer(t, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    for (const id of ['register', 'createPost', 'updateProfile', 'listPosts']) await unfold(page, id);
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
    const listing = block(page, 'listPosts');
    await listing.locator('.headers-fold summary').first().click();
    await listing.locator('.headers-fold td').first().waitFor();
    const colour = `getComputedStyle(document.querySelector('.headers-fold[open] td')).color`;
    t.equal(await page.evaluate(colour), 'rgb(228, 230, 230)', 'light on dark');
    const background = 'getComputedStyle(document.documentElement).backgroundColor';
    const dark = await page.evaluate(background);
    t.equal(dark, 'rgb(28, 32, 34)');
    await page.emulateMedia({ colorScheme: 'light' });
    await until(page, `${background} !== '${dark}'`);
  });

  t.test('no page requested another host, violated the policy or had an error', async (t) => {
    t.same(violations, []);
  });
}

/** Polls an expression every frame until it holds. The page's policy forbids Playwright's `waitForFunction`, which uses eval. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(expression))) await page.evaluate('new Promise(requestAnimationFrame)');
}

/** Returns the tag of each operation, which is part of its anchor in the page. */
async function readTags(url: string): Promise<Record<string, string>> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId?: string; tags?: [string] }>>;
  };
  return Object.fromEntries(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .flatMap(({ operationId, tags: [tag] = [''] }) => (operationId ? [[operationId, tag]] : [])),
  );
}
