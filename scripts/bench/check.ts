/** Checks that all servers send the same responses before anything is measured. */
import { type AssertionError, deepStrictEqual } from 'node:assert';
import { CommandError } from '../support/command-error.js';
import { pngBlob, type RequestOptions, send } from '../support/request.js';
import type { Dataset } from './dataset.js';
import { IMAGE, uploadForm } from './image.js';
import type { Servers } from './servers.js';

/** @throws CommandError that describes the difference */
export function expectEqual(request: string, actual: unknown, expected: unknown): void {
  try {
    deepStrictEqual(actual, expected);
  } catch (error) {
    throw new CommandError(`Wrong response to ${request}: ${(error as AssertionError).message}`);
  }
}

/** Sends a request. Returns the body of the response: parsed JSON, or bytes. @throws CommandError if the status differs */
async function expectStatus(url: string, request: string, status: number, options: RequestOptions = {}) {
  const response = await send(url, request, options);
  expectEqual(request, response.status, status);
  return response.json ?? response.bytes;
}

/** @throws CommandError at the first response that differs from the expected one */
export async function checkServers(servers: Servers, { users, loginEmails, password }: Dataset): Promise<void> {
  const { service, otherCheckout, withoutRedis, posts, account, files, argon2 } = servers;
  const expect = async (url: string, request: string, token: string, body: unknown) =>
    expectEqual(request, await expectStatus(url, request, 200, { token }), body);
  for (const { token, account: body, firstPage, deepPath, deepPage } of users) {
    for (const server of [service, otherCheckout, withoutRedis]) {
      if (!server) continue;
      await expect(server.url, 'GET /posts', token, firstPage);
      await expect(server.url, 'GET /auth/me', token, body);
    }
    if (service) await expect(service.url, `GET ${deepPath}`, token, deepPage);
    if (posts) await expect(posts.url, 'GET /posts', token, firstPage);
    if (account) await expect(account.url, 'GET /auth/me', token, body);
  }
  if (files) {
    await expectStatus(files.url, 'POST /files', 201, { body: pngBlob(IMAGE) });
    await expect(files.url, 'GET /files/1', '', IMAGE);
  }
  if (argon2) {
    const [email] = loginEmails;
    await expectStatus(argon2.url, 'POST /auth/login', 401, { json: { email, password: `${password}?` } });
    await expectStatus(argon2.url, 'POST /auth/login', 200, { json: { email, password } });
  }
}

/** Creates a post with an image. */
export const createPost = (url: string, token: string): Promise<{ image: string }> =>
  expectStatus(url, 'POST /posts/create', 201, { token, body: uploadForm() });
