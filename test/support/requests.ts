import type { Test } from 'tap';
import { violations } from '../../scripts/contract-test/conformance.js';
import { operationFor } from '../../scripts/contract-test/document.js';

export interface TestResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the contract check validates the body, and each test knows its type.
  body: any;
  bytes: Buffer;
}

export interface RequestOptions {
  token?: string;
  json?: unknown;
  form?: Record<string, string | Blob | { blob: Blob; name: string }>;
  headers?: Record<string, string>;
  body?: string | Uint8Array | FormData | ReadableStream;
}

/** Returns a function that sends requests and checks each response of an operation against the contract. */
export function createSender(t: Pick<Test, 'fail'>, url: string) {
  return async (
    method: string,
    path: string,
    { token, json, form, headers = {}, body }: RequestOptions = {},
  ): Promise<TestResponse> => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: json !== undefined ? JSON.stringify(json) : form ? formData(form) : (body ?? null),
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    const result: TestResponse = {
      status: response.status,
      headers: response.headers,
      body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : undefined,
      bytes,
    };
    const operation = operationFor(method, new URL(url + path).pathname);
    if (operation) {
      const found = violations(operation, result);
      if (found.length > 0) t.fail(`${method} ${path} breaks the contract`, { found, body: result.body });
    }
    return result;
  };
}

/** Returns the problems that a 400 lists, in order, as `in.field`. */
export const problemsOf = ({ body }: TestResponse): string[] =>
  (body.errors ?? []).map((problem: { in: string; field: string }) => `${problem.in}.${problem.field}`);

/** Returns the value and the attributes, by lowercase name, of the session cookie, if it is the only one set. */
export function cookieOf({ headers }: TestResponse): Record<string, string> | undefined {
  const [cookie, ...others] = headers.getSetCookie().map((line) => line.split('; '));
  const [pair, ...attributes] = cookie ?? [];
  if (!pair || others.length > 0 || !pair.startsWith('fc_session_token=')) return undefined;
  return Object.fromEntries([
    ['value', pair.slice('fc_session_token='.length)],
    ...attributes.map((attribute) => {
      const [name = '', value = ''] = attribute.split('=');
      return [name.toLowerCase(), value];
    }),
  ]);
}

/** The result of `cookieOf` for a response that clears the cookie. */
export const CLEARED_COOKIE = { value: '', 'max-age': '0', path: '/', httponly: '', samesite: 'Lax' };

function formData(fields: NonNullable<RequestOptions['form']>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else if (value instanceof Blob) form.append(name, value, 'picture');
    else form.append(name, value.blob, value.name);
  }
  return form;
}
