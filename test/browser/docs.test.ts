import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { contract, samples } from '../../scripts/contract-test/client/index.js';
import { findAccessibilityProblems, launchBrowser, needsBrowser } from '../support/browser.js';
import { PASSWORD, startTestService } from '../support/service.js';

/** The tag of each operation, which is part of its anchor in the page. */
const tagOf = Object.fromEntries(contract.map(({ id, tag }) => [id, tag]));

if (needsBrowser.skip) t.pass('the explorer in a browser', needsBrowser);
else await testExplorer();

async function testExplorer() {
  const service = await startTestService(t);
  const browser = await launchBrowser(t);
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
      // Browsers log every 401.
      const expected = message.text().includes('status of 401');
      if (['error', 'warning'].includes(message.type()) && !expected) violations.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => violations.push(`script error: ${error.message}`));
    await page.goto(`${service.url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return page;
  }

  const block = (page: Page, id: string) => page.locator(`#operations-${tagOf[id]}-${id}`);

  async function unfold(page: Page, id: string): Promise<Locator> {
    const operation = block(page, id);
    const control = operation.locator('.opblock-summary-control');
    if ((await control.getAttribute('aria-expanded')) === 'false') await control.click();
    await operation.locator('.execute').waitFor();
    return operation;
  }

  /** Fills in an operation's form, presses Execute, and returns the displayed response with its status. */
  async function execute(page: Page, id: string, fill?: (form: Locator) => Promise<unknown>) {
    const operation = await unfold(page, id);
    const clear = operation.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    await fill?.(operation);
    await operation.locator('.execute').click();
    const response = operation.locator('.live-responses-table .response');
    await response.waitFor();
    const status = Number(await response.locator('.response-col_status').textContent());
    return { status, response };
  }

  async function openDialog(page: Page): Promise<Locator> {
    await page.locator('.auth-wrapper .authorize').click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByRole('heading', { name: 'bearerAuth' }).waitFor();
    return dialog;
  }

  async function authorize(page: Page, token: string): Promise<void> {
    const dialog = await openDialog(page);
    await dialog.locator('input').fill(token);
    await dialog.locator('button.authorize').click();
    await dialog.locator('button.btn-done').click();
  }

  /** Waits until the bar shows who is logged in. */
  async function expectUser(t: Test, page: Page, username?: string, by: 'token' | 'cookie' = 'token'): Promise<void> {
    const user = page.locator('.bar .user strong');
    if (username) t.equal(await user.textContent(), username);
    else await user.waitFor({ state: 'detached' });
    await page.locator(`.bar .authorize.${username && by === 'token' ? 'locked' : 'unlocked'}`).waitFor();
    t.equal(await page.getByText('by cookie').count(), username && by === 'cookie' ? 1 : 0);
  }

  /** Returns an expression that evaluates, in the page, to whether the service rejects a token. */
  const isRejected = (token: string) =>
    `fetch('/auth/verify', { headers: { Authorization: 'Bearer ${token}' } }).then(({ status }) => status === 401)`;
  const parameter = (form: Locator, name: string) =>
    form.locator(`[data-param-name="${name}"] input, [data-property-name="${name}"] input`);
  const top = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().top`;
  const json = (value: object) => (form: Locator) => form.locator('textarea').fill(JSON.stringify(value));
  const bodyOf = async (response: Locator) =>
    JSON.parse((await response.locator('.highlight-code code').textContent()) ?? '');

  t.test('shows every operation of the contract, and links to each tag', async (t) => {
    const page = await openExplorer(t);
    for (const { id } of contract) t.equal(await block(page, id).count(), 1, id);
    t.equal(await page.locator('.opblock').count(), contract.length);
    const link = (tag: string) => page.getByRole('navigation').getByRole('link', { name: tag, exact: true });
    for (const tag of new Set(Object.values(tagOf)))
      t.equal(await link(tag).getAttribute('href'), `#operations-tag-${tag}`);
    await link('friends').click();
    const y = top('#operations-tag-friends');
    const bar = `document.querySelector('.bar').getBoundingClientRect().bottom`;
    await until(page, `${y} >= ${bar} && ${y} < innerHeight`);
  });

  t.test('filters operations by tag, path and summary', async (t) => {
    const page = await openExplorer(t);
    const shown = () =>
      page.locator('.opblock-summary-path').evaluateAll((paths) => paths.map((path) => path.dataset.path));
    const filter = page.getByRole('searchbox', { name: 'Filter operations' });
    await filter.fill('Unlike');
    t.same(await shown(), ['/posts/like']);
    await filter.fill('delete /auth');
    t.same(await shown(), ['/auth/sessions', '/auth/sessions/{id}']);
    await filter.fill('RELATIONSHIPS');
    t.same(await shown(), ['/create_relationship']);
    await filter.fill('none');
    await page.getByText('No operation matches “none”.').waitFor();
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

  t.test('a user can register, log in, create a post and update the profile', async (t) => {
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

  t.test('a first visitor sees how to get started, and where to log in', async (t) => {
    const page = await openExplorer(t);
    const start = page.locator('details', { hasText: 'Getting started' });
    t.equal(await start.getByText('starts a session and returns its token').isVisible(), true);
    const { response } = await execute(page, 'listPosts');
    t.match(await response.locator('.headerline', { hasText: 'date' }).textContent(), /date: \w{3}, \d/);
    await page.getByText('You are not logged in.').getByRole('link', { name: 'POST /auth/login' }).click();
    const login = block(page, 'login');
    await login.locator('.execute').waitFor();
    await until(page, `${top('#operations-auth-login')} >= 0 && ${top('#operations-auth-login')} < innerHeight / 2`);

    await (await openDialog(page)).getByText('The token in the response of POST /auth/login').waitFor();
    await page.keyboard.press('Escape');
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Authorize', 'the focus returns');

    const { email } = await service.createUser();
    await execute(page, 'login', json({ email, password: PASSWORD }));
    t.equal(await start.getAttribute('open'), '', 'nothing moves while the user reads a response');
    await page.reload();
    await page.locator('.opblock').first().waitFor();
    t.equal(await start.getAttribute('open'), null);
  });

  t.test('Execute keeps the focus, and sends one request at a time', async (t) => {
    const page = await openExplorer(t);
    let [sent, respond] = [0, () => {}];
    const held = new Promise<void>((resolve) => {
      respond = resolve;
    });
    await page.route('**/posts', async (route) => {
      sent++;
      await held;
      await route.continue();
    });
    const operation = await unfold(page, 'listPosts');
    await operation.locator('.execute').focus();
    for (let times = 0; times < 2; times++) await page.keyboard.press('Enter');
    respond();
    await operation.locator('.live-response').waitFor();
    t.equal(sent, 1);
    await Promise.all([page.waitForResponse('**/posts'), page.keyboard.press('Enter')]);
  });

  t.test('on a phone a user can authorize with a token, and post, view and like an image', async (t) => {
    const page = await openExplorer(t, { viewport: { width: 390, height: 844 } });
    const { token, username } = await service.createUser();
    for (const name of ['nav a', '.authorize span']) {
      const box = await page.locator(`.bar ${name}`).first().boundingBox();
      t.ok(box && box.width > 20, `${name} is visible`);
    }
    await authorize(page, ` Bearer ${token} `);
    await expectUser(t, page, username);

    const placeOfExecute = () =>
      block(page, 'createPost')
        .locator('.execute')
        .evaluate((button) => [button.offsetLeft, button.offsetTop, button.offsetWidth]);
    await unfold(page, 'createPost');
    const before = await placeOfExecute();
    const created = await execute(page, 'createPost', async (form) => {
      await parameter(form, 'title').fill('Seen on the way');
      await form
        .locator('input[type=file]')
        .setInputFiles({ name: 'way.png', mimeType: 'image/png', buffer: samples.png });
    });
    t.equal(created.status, 201);
    const box = await created.response.boundingBox();
    t.ok(box && box.y > 0 && box.y < 500, 'the response is visible');
    t.equal(await page.getByText('curl -X').isVisible(), false, 'the request is folded');
    t.same(await placeOfExecute(), before, 'Execute stays where it is');
    const [copy, code] = await Promise.all(
      ['.copy-to-clipboard', '.microlight'].map((name) => created.response.locator(name).first().boundingBox()),
    );
    t.ok(copy && code && copy.y + copy.height <= code.y, 'the buttons do not cover the response');
    const post = await bodyOf(created.response);

    const image = await execute(page, 'getPostImage', (form) => parameter(form, 'filename').fill(post.image));
    await image.response.locator('img').waitFor();
    const width = `document.querySelector('#operations-posts-getPostImage img').naturalWidth`;
    t.equal(await page.evaluate(width), 1);

    t.equal((await execute(page, 'likePost', (form) => parameter(form, 'id').fill(`${post.id}`))).status, 200);
    const read = await execute(page, 'getPost', (form) => parameter(form, 'id').fill(`${post.id}`));
    t.match(await bodyOf(read.response), { title: 'Seen on the way', like_count: 1, liked_by_me: true });
    const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    t.notMatch(await page.evaluate(stored), token, 'the page does not store the token');
    await page.locator('.bar').getByRole('button', { name: 'Log out' }).click();
    await expectUser(t, page);
    await until(page, isRejected(token));
  });

  t.test('logging in authorizes the page, and the page forgets the token when the session ends', async (t) => {
    const page = await openExplorer(t);
    const { email, username, token, send } = await service.createUser();
    const logIn = async () => t.equal((await execute(page, 'login', json({ email, password: PASSWORD }))).status, 200);
    const status = async (id: string) => (await execute(page, id)).status;

    await logIn();
    await expectUser(t, page, username);
    t.equal(await status('logout'), 200);
    await expectUser(t, page);
    await logIn();
    t.equal(await status('getCurrentAccount'), 200, 'with the new token');

    await page.reload();
    await expectUser(t, page, username, 'cookie');
    t.equal(await status('getCurrentAccount'), 200, 'with the cookie');
    await logIn();
    await expectUser(t, page, username);
    const wrong = await execute(page, 'updateProfile', async (form) => {
      await parameter(form, 'name').fill('Another Name');
      await parameter(form, 'current_password').fill('Wrong-Harbour-27!');
    });
    t.equal(wrong.status, 401);
    await expectUser(t, page, username);

    t.equal((await send('DELETE', '/auth/sessions')).status, 200);
    t.equal(await status('getCurrentAccount'), 401);
    await expectUser(t, page);

    await logIn();
    t.equal((await send('DELETE', '/auth/sessions')).status, 200);
    await page.reload();
    await expectUser(t, page);

    await authorize(page, 'no-token');
    await expectUser(t, page);
    const dialog = await openDialog(page);
    t.equal(await dialog.locator('.auth-container').count(), 1, 'a cookie cannot be entered');
    await dialog.getByText('Log in again.').waitFor();
    await dialog.locator('input').fill(token);
    await dialog.locator('button.authorize').click();
    await dialog.getByRole('button', { name: 'Logout' }).click();
    await expectUser(t, page);
    await until(page, isRejected(token));
  });

  t.test('fills in only required fields, and folds what is rarely needed', async (t) => {
    const page = await openExplorer(t);
    const create = await unfold(page, 'createPost');
    t.match(await create.locator('[data-property-name="text"] textarea').inputValue(), /\w/);
    const image = await unfold(page, 'getPostImage');
    t.match(await parameter(image, 'filename').inputValue(), /\w/);
    t.equal(await parameter(image, 'If-None-Match').inputValue(), '');

    const codes = () =>
      image.locator('.responses-table .response').evaluateAll((rows) => rows.map((row) => row.dataset.code));
    t.same(await codes(), ['200', '304']);
    await image.locator('.folded', { hasText: '404' }).locator('summary').click();
    t.same(await codes(), ['200', '304', '404']);

    const about = page.locator('.manual');
    t.equal(await about.getByRole('heading', { name: 'Pagination' }).isVisible(), false);
    await about.locator('summary').click();
    await about.getByRole('link', { name: 'Pagination' }).click();
    const pagination = about.getByRole('heading', { name: 'Pagination' });
    await pagination.waitFor();
    await until(page, 'scrollY > 500');
    await about.locator('summary').click();
    await create.getByRole('link', { name: 'Images' }).first().click();
    await about.getByRole('heading', { name: 'Images' }).waitFor();
    const accepted = await create.locator('input[type=file]').getAttribute('accept');
    t.match(accepted, 'image/webp');
    await page.reload();
    await about.getByRole('heading', { name: 'Images' }).waitFor();
    const schemas = page.locator('#schemas');
    await schemas.getByRole('button', { name: 'Credentials' }).waitFor();
    t.equal(await schemas.getByText('Expand all').first().isVisible(), false, 'only names');
  });

  t.test('is accessible on desktop and phone, in light and dark', async (t) => {
    const page = await openExplorer(t);
    const { token } = await service.createUser();
    await execute(page, 'listFriends');
    await authorize(page, token);
    await execute(page, 'listPosts');
    for (const id of ['createPost', 'updateProfile', 'getPostImage']) await unfold(page, id);
    for (const text of ['Headers', '400'])
      await block(page, 'createPost').locator('summary', { hasText: text }).first().click();
    await page.locator('.manual summary').click();
    await page.locator('#schemas').getByRole('button', { name: 'Registration' }).click();
    t.equal(await page.locator('.response-col_links').locator('visible=true').count(), 0, 'links are for programs');
    const backgrounds = new Set<unknown>();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        t.same(await findAccessibilityProblems(page), [], `${width} pixels, ${colorScheme}`);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
        backgrounds.add(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'));
      }
    }
    t.equal(backgrounds.size, 2, 'light and dark differ');
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
    // Prints dark text.
    await page.locator('.dark-mode').waitFor({ state: 'detached' });
    await page.emulateMedia({ media: 'screen' });
    await page.setViewportSize({ width: 320, height: 900 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
    await openDialog(page);
    t.same(await findAccessibilityProblems(page), [], 'the dialog');
  });

  t.test('no page requested another host, violated the policy or had an error', async (t) => {
    t.same(violations, []);
  });
}

/** Polls an expression every frame until it holds. The page's policy forbids Playwright's `waitForFunction`, which uses eval. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(expression))) await page.evaluate('new Promise(requestAnimationFrame)');
}
