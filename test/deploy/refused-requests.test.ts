import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { needsProgram } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';
import { createClient } from './client.js';
import { startNginx } from './nginx.js';
import { startCaddy } from './topology.js';

const REFUSED_ADDRESS = '127.0.24.9';

/** Returns the lines of the documentation for a proxy, with the address of a client of this test. */
async function readLines(language: string): Promise<string> {
  const page = await readFile('scripts/deploy/README.md', 'utf8');
  const [, lines = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page) ?? [];
  if (!lines.includes('192.0.2.7')) throw new Error(`The page has no lines for ${language}`);
  return lines.replace('192.0.2.7', REFUSED_ADDRESS);
}

const PROXIES = {
  caddy: async (t: Parameters<typeof startCaddy>[0], url: string, opsUrl: string) => {
    const site = await readFile(join('scripts', 'deploy', 'Caddyfile'), 'utf8');
    const configuration = join(await temporaryDirectory(t), 'Caddyfile');
    await writeFile(configuration, site.replace(/(?=^\treverse_proxy)/m, await readLines('caddyfile')));
    const environment = { UPSTREAMS: new URL(url).host, OPS_PORT: new URL(opsUrl).port };
    return startCaddy(t, environment, configuration);
  },
  nginx: async (t: Parameters<typeof startCaddy>[0], url: string) => startNginx(t, url, await readLines('nginx')),
};

for (const [name, start] of Object.entries(PROXIES))
  t.test(`${name} refuses addresses and registrations with the documented lines`, needsProgram(name), async (t) => {
    const { url, opsUrl } = await startTestService(t, { TRUST_PROXY: '127.0.0.1' });
    const proxy = await start(t, url, opsUrl);
    const [refused, other] = [
      await createClient(t, proxy, REFUSED_ADDRESS),
      await createClient(t, proxy, '127.0.24.10'),
    ];
    t.equal((await refused('GET', '/openapi.json')).status, 403);
    t.equal((await other('GET', '/openapi.json')).status, 200, 'other addresses are served');
    for (const path of ['/auth/register', '/%61uth/register', '//auth/register'])
      t.equal((await other('POST', path, { json: {} })).status, 403, path);
    t.equal((await other('POST', '/auth/login', { json: {} })).status, 400, 'logins are served');
  });
