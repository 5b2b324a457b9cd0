import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';
import { temporaryDirectory } from '../support/stores.js';
import { startProgram } from './programs.js';

/** The main configuration of nginx, without the files of Debian's package. */
const mainConfiguration = (directory: string) => `
daemon off; master_process off; user root; pid ${directory}/pid; error_log stderr notice;
events {}
http {
  access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  include ${directory}/site.conf;
}`;

/** Returns an edit of `nginx.conf` that adds lines to `server`. */
export const addToServer = (lines: string) => (site: string) =>
  site.replace(/^server \{\n/m, (server) => server + lines);

/**
 * Starts nginx in front of a service, as `nginx.conf` configures it. It stops when the test ends.
 *
 * @param edit changes `nginx.conf`
 */
export async function startNginx(t: Test, serviceUrl: string, edit = (site: string) => site) {
  const directory = await temporaryDirectory(t);
  const [httpsPort, unusedPort] = [await findFreePort(), await findFreePort()];
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const options = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost';
  const names = ['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', ...options.split(' '), ...names], { stdio: 'ignore' });
  const values = {
    '127.0.0.1:3000': new URL(serviceUrl).host,
    '127.0.0.2:3000': `127.0.0.1:${unusedPort}`,
    'listen 443': `listen 127.0.0.1:${httpsPort}`,
    '/etc/letsencrypt/live/social.example/fullchain.pem': certificate,
    '/etc/letsencrypt/live/social.example/privkey.pem': key,
    'server_name social.example;': 'server_name localhost;',
  };
  let site = edit(await readFile(join('scripts', 'deploy', 'nginx.conf'), 'utf8'));
  for (const [text, value] of Object.entries(values)) {
    if (!site.includes(text)) throw new Error(`nginx.conf does not contain ${text}`);
    site = site.replaceAll(text, value);
  }
  await writeFile(join(directory, 'site.conf'), site);
  await writeFile(join(directory, 'nginx.conf'), mainConfiguration(directory));
  await startProgram(
    t,
    'nginx',
    ['-p', directory, '-c', join(directory, 'nginx.conf')],
    [/using the "epoll" event method/],
  );
  return { url: `https://localhost:${httpsPort}`, certificate };
}
