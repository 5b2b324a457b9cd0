import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { needsProgram, parseLog } from '../support/processes.js';
import { startTestService } from '../support/service.js';
import { temporaryDirectory } from '../support/stores.js';
import { until } from '../support/until.js';
import { registerWith } from '../support/users.js';
import { createClient } from './client.js';
import { addToServer, startNginx } from './nginx.js';
import { startCaddy } from './topology.js';

/* The lines of README.md that operators add to the configuration of a proxy. */

const [ABUSER_ADDRESS, OTHER_ADDRESS] = ['127.0.24.9', '127.0.24.10'];

/** Returns the lines of a subsection for a proxy. */
async function readLines(title: string, language: string): Promise<string> {
  const page = await readFile('scripts/deploy/README.md', 'utf8');
  const section = page.split(/^### /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
  const [, lines] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(section) ?? [];
  if (lines === undefined) throw new Error(`“${title}” has no lines for ${language}`);
  return lines.replace('192.0.2.7', ABUSER_ADDRESS);
}

/** Starts Caddy in front of a service, with lines before `reverse_proxy`. */
async function startCaddyWith(t: Test, { url, opsUrl }: { url: string; opsUrl: string }, lines: string) {
  const site = await readFile(join('scripts', 'deploy', 'Caddyfile'), 'utf8');
  const configuration = join(await temporaryDirectory(t), 'Caddyfile');
  await writeFile(configuration, site.replace(/(?=^\treverse_proxy)/m, lines));
  const environment = { UPSTREAMS: new URL(url).host, OPS_PORT: new URL(opsUrl).port };
  return startCaddy(t, environment, configuration);
}

const startService = (t: Test) => startTestService(t, { TRUST_PROXY: '127.0.0.1' });

const REFUSING = {
  caddy: async (t: Test, service: { url: string; opsUrl: string }) =>
    startCaddyWith(t, service, await readLines('Refuse requests', 'caddyfile')),
  nginx: async (t: Test, { url }: { url: string }) =>
    startNginx(t, url, addToServer(await readLines('Refuse requests', 'nginx'))),
};

for (const [name, start] of Object.entries(REFUSING))
  t.test(`${name} refuses addresses and registrations with the documented lines`, needsProgram(name), async (t) => {
    const proxy = await start(t, await startService(t));
    const [refused, other] = [
      await createClient(t, proxy, ABUSER_ADDRESS),
      await createClient(t, proxy, OTHER_ADDRESS),
    ];
    t.equal((await refused('GET', '/openapi.json')).status, 403);
    t.equal((await other('GET', '/openapi.json')).status, 200, 'other addresses are served');
    for (const path of ['/auth/register', '/%61uth/register', '//auth/register'])
      t.equal((await other('POST', path, { json: {} })).status, 403, path);
    t.equal((await other('POST', '/auth/login', { json: {} })).status, 400, 'logins are served');
  });

/** Starts proxies that log addresses. `readLog` returns what they have logged. */
const LOGGING = {
  caddy: async (t: Test, service: { url: string; opsUrl: string }) => {
    const proxy = await startCaddyWith(t, service, await readLines('Log addresses', 'caddyfile'));
    return { ...proxy, readLog: async () => proxy.log() };
  },
  nginx: async (t: Test, { url }: { url: string }) => {
    const file = join(await temporaryDirectory(t), 'log');
    const [format = '', accessLog = ''] = (await readLines('Log addresses', 'nginx')).split('\n');
    const proxy = await startNginx(t, url, (site) =>
      site
        .replace(/^server \{/m, `${format}\n$&`)
        .replace('access_log off;', accessLog.replace('/var/log/nginx/social-posting.log', file)),
    );
    return { ...proxy, readLog: () => readFile(file, 'utf8') };
  },
};

for (const [name, start] of Object.entries(LOGGING))
  t.test(`${name} logs the address of each request with the documented lines`, needsProgram(name), async (t) => {
    const service = await startService(t);
    const proxy = await start(t, service);
    const user = await registerWith(await createClient(t, proxy, OTHER_ADDRESS));
    const send = await createClient(t, proxy, ABUSER_ADDRESS);
    await send('POST', '/posts/create', { token: user.token, form: { title: 'T', text: 'T' } });
    const { reqId } = parseLog(service.logged()).find(({ route }) => route === '/posts/create') ?? {};
    const find = async () => (await proxy.readLog()).split('\n').find((line) => line.includes(String(reqId)));
    await until(async () => (await find()) !== undefined);
    t.match(await find(), ABUSER_ADDRESS);
    t.notMatch(await proxy.readLog(), user.token, 'no token');
  });
