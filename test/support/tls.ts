import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import type { Test } from 'tap';
import { listen } from './listen.js';
import { temporaryDirectory } from './stores.js';

/** A self-signed test certificate for localhost and 127.0.0.1, valid until 2126. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUEzLcavUphaeY6/zeip9REs6gP9AwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE1NTQxNloYDzIxMjYxMDI4
MTU1NDE2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARTpUep0kfZe/l4dBIPtXGnYa+SqpWpzuy/7KTiyr9rRmZW2R52Sh+E
luokFjbEQQBLICYOqFckli24O8qihTaMo28wbTAdBgNVHQ4EFgQUuHu0tHxtBZVO
s/vRXp1As5+BgmwwHwYDVR0jBBgwFoAUuHu0tHxtBZVOs/vRXp1As5+BgmwwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAKbR+FIwuRXKjsKT6LvvgfmgCVzNI72jKG/+FRigBxitAiEA
1234vfLvxuKwH//jqCfN4TU0sDhcFUhx25lCUcTRtSE=
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgI0bK64ZWL/s34eyi
NqUu4ejnR5RQg+6bk0dDXxMdFEmhRANCAARTpUep0kfZe/l4dBIPtXGnYa+SqpWp
zuy/7KTiyr9rRmZW2R52Sh+EluokFjbEQQBLICYOqFckli24O8qihTaM
-----END PRIVATE KEY-----
`;

/** Writes the certificate to a file, for clients to trust, and returns its path. */
export async function writeCertificate(t: Test): Promise<string> {
  const path = join(await temporaryDirectory(t), 'certificate.pem');
  await writeFile(path, CERTIFICATE);
  return path;
}

/** Starts TLS proxies to the stores. Returns the variables with which a service connects through them. */
export async function overTls(
  t: Test,
  environment: NodeJS.ProcessEnv,
  certificate: string,
): Promise<NodeJS.ProcessEnv> {
  const secure = { ...environment };
  for (const [name, scheme] of [
    ['DATABASE_URL', 'postgres:'],
    ['NEO4J_URI', 'bolt+s:'],
    ['S3_ENDPOINT', 'https:'],
    ['REDIS_URL', 'rediss:'],
  ] as const) {
    const url = new URL(environment[name] ?? '');
    url.port = String(await startTlsProxy(t, url));
    if (name === 'DATABASE_URL') url.search = `sslmode=verify-full&sslrootcert=${certificate}`;
    secure[name] = url.href.replace(url.protocol, scheme);
  }
  return secure;
}

/** Starts a TLS-terminating proxy and returns its port. It accepts PostgreSQL's SSLRequest message. */
export async function startTlsProxy(t: Test, { protocol, hostname, port }: URL): Promise<number> {
  const secure = createTlsServer({ cert: CERTIFICATE, key: KEY }, (client) => {
    pipeline(client, connect(Number(port), hostname), client, () => undefined);
  });
  const listener = createServer((client) => {
    client.on('error', () => undefined);
    if (!protocol.startsWith('postgres')) return secure.emit('connection', client);
    client.once('data', () => {
      client.pause();
      client.write('S', () => secure.emit('connection', client));
    });
  });
  return listen(t, listener);
}
