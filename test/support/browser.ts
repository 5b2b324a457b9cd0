import { existsSync } from 'node:fs';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Test } from 'tap';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const installed = BROWSERS.find(existsSync);

/** Test options that skip a test if no browser is installed. */
export const needsBrowser = { skip: !installed && `no browser is installed: none of ${BROWSERS.join(', ')} exists` };

/** Starts a browser, which is closed when the test ends. */
export async function launchBrowser(t: Test): Promise<Browser> {
  if (!installed) throw new Error('no browser is installed');
  const browser = await chromium.launch({ executablePath: installed, args: ARGUMENTS });
  t.teardown(() => browser.close());
  return browser;
}

/** Waits for the end of transitions, which change colors gradually. One may start a frame after the change that causes it. */
const WAIT_FOR_TRANSITIONS = `(async () => {
  for (let quietFrames = 0; quietFrames < 3; ) {
    await new Promise(requestAnimationFrame);
    quietFrames = document.getAnimations().length === 0 ? quietFrames + 1 : 0;
  }
})()`;

/** Returns the rules that axe reports as critical or serious for a page, each with the elements that break it. */
export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(WAIT_FOR_TRANSITIONS);
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResults;
  return violations
    .filter(({ impact }) => impact === 'critical' || impact === 'serious')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}
