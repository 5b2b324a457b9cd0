import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import type { Test } from 'tap';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const installed = BROWSERS.find(existsSync);

/** For tests that drive a browser. */
export const needsBrowser = { skip: !installed && `no browser is installed: none of ${BROWSERS.join(', ')} is there` };

/** Starts a browser that ends with the test. */
export async function launchBrowser(t: Test): Promise<Browser> {
  if (!installed) throw new Error('no browser is installed');
  const browser = await chromium.launch({ executablePath: installed, args: QUIET });
  t.teardown(() => browser.close());
  return browser;
}
