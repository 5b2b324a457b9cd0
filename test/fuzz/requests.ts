import { type ContractOperation, contract } from '../../scripts/contract-test/client/index.js';
import type { Random } from '../support/random.js';
import { formBody, jsonBody } from './bodies.js';
import { credentialHeaders } from './credentials.js';
import type { Fixture } from './fixture.js';
import { accountId, filename, postId, sessionId, text, UNUSUAL_IDS, words } from './values.js';

export interface FuzzRequest {
  bytes: Buffer;
  /** The number of bytes before the pause; the length of `bytes` if there is none. */
  pauseAfter: number;
  method: string;
  path: string;
  /** Whether the bytes are one complete HTTP request, which must have exactly one response. */
  complete: boolean;
}

/** The shares of operations that end an attacker's session or hash a password. All others share the rest equally. */
const SHARES: Record<string, number> = {
  logout: 0.001,
  deleteOtherSessions: 0.004,
  deleteSession: 0.01,
  deleteAccount: 0.004,
  register: 0.01,
  login: 0.01,
  updateProfile: 0.03,
};
const MUTATED_SHARE = 0.1;
const PAUSED_SHARE = 0.2;

/** Half of the pauses are within this many bytes of the end, where the service often detects the errors of a body. */
const BYTES_AT_END = 100;

const METHODS = words('GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND');
const PATHS = words('/ /docs /docs/ /openapi.yaml /openapi.json /livez /metrics /%ff // /posts// /favicon.ico');

const OTHER_OPERATIONS = contract.filter(({ id }) => !(id in SHARES));

function pickOperation(random: Random): ContractOperation {
  let left = random.next();
  for (const operation of contract) {
    left -= SHARES[operation.id] ?? 0;
    if (left < 0) return operation;
  }
  return random.pick(OTHER_OPERATIONS);
}

/** Returns a request of a random operation with random input, sometimes with mutated bytes or a pause. */
export function randomRequest(random: Random, fixture: Fixture): FuzzRequest {
  const composed = compose(random, fixture, pickOperation(random));
  const request = random.chance(MUTATED_SHARE)
    ? { ...composed, bytes: mutate(random, composed.bytes), complete: false }
    : composed;
  return { ...request, pauseAfter: pauseAfter(random, request.bytes.length) };
}

/** Returns how many bytes of a request are sent before a pause: all `length` bytes if there is no pause. */
function pauseAfter(random: Random, length: number): number {
  if (!random.chance(PAUSED_SHARE)) return length;
  return random.chance(0.5) ? random.below(length + 1) : length - random.below(Math.min(length, BYTES_AT_END) + 1);
}

function compose(random: Random, fixture: Fixture, operation: ContractOperation): Omit<FuzzRequest, 'pauseAfter'> {
  const method = random.chance(0.05) ? random.pick(METHODS) : operation.method;
  const path = random.chance(0.03) ? random.pick(PATHS) : fillPath(random, fixture, operation.path);
  const headers = [`Host: ${random.chance(0.02) ? random.pick(['', 'a b', 'evil.example', '[::1]', 'x:99999']) : 'x'}`];
  headers.push(...credentialHeaders(random, fixture), ...extraHeaders(random));
  const { type, body } = bodyOf(random, fixture, operation);
  if (type !== undefined) headers.push(`Content-Type: ${type}`);
  const framed = frame(random, body, headers);
  const target = `${path}${queryString(random, fixture, operation)}`;
  const head = `${method} ${encodeTarget(target)} HTTP/1.1\r\n${headers.map(cleanHeader).join('\r\n')}\r\n\r\n`;
  return {
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), framed]),
    method,
    path: encodeTarget(path),
    complete: true,
  };
}

function fillPath(random: Random, fixture: Fixture, path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'filename') return filename(random, fixture);
    if (path.startsWith('/auth/sessions')) return sessionId(random, fixture);
    return path.startsWith('/posts') ? postId(random, fixture) : accountId(random, fixture);
  });
}

function queryString(random: Random, fixture: Fixture, operation: ContractOperation): string {
  const pairs = operation.query
    .filter(({ required }) => random.chance(required ? 0.97 : 0.5))
    .map(({ name }) => `${name}=${queryValue(random, fixture, operation, name)}`);
  const encodedText = () => encodeURIComponent(text(random).toWellFormed());
  if (random.chance(0.05)) pairs.push(`${encodedText()}=${encodedText()}`);
  if (random.chance(0.03) && pairs[0] !== undefined) pairs.push(pairs[0]);
  if (random.chance(0.02))
    pairs.push(random.pick(['&&&', '=', 'a', '__proto__[x]=1', 'id[]=1', 'id[$ne]=1', '%', '%ff=%ff', '#']));
  return pairs.length > 0 ? `?${pairs.join(random.chance(0.98) ? '&' : ';')}` : '';
}

function queryValue(random: Random, fixture: Fixture, operation: ContractOperation, name: string): string {
  if (name === 'limit') return random.chance(0.7) ? String(1 + random.below(100)) : random.pick(UNUSUAL_IDS);
  if (name === 'offset') return random.chance(0.7) ? String(random.below(500)) : random.pick(UNUSUAL_IDS);
  if (name === 'cursor')
    return random.chance(0.9) ? base64url(random.pick(SORT_KEYS)) : encodeURIComponent(text(random).toWellFormed());
  return operation.path.startsWith('/posts') ? postId(random, fixture) : accountId(random, fixture);
}

/** The contents of cursors, valid or not. */
const SORT_KEYS = [
  '2026-01-31T09:30:05.118Z 42',
  '9999-12-31T23:59:59.999Z 9007199254740991',
  '0001-01-01T00:00:00.000Z 1',
  '0000-01-01T00:00:00.000Z 1',
  '2026-02-30T00:00:00.000Z 1',
  'infinity 1',
  '2026-01-31T09:30:05.118Z 0',
];

const base64url = (value: string) => Buffer.from(value).toString('base64url');

function extraHeaders(random: Random): string[] {
  if (!random.chance(0.15)) return [];
  return [
    random.pick([
      'Origin: https://evil.example',
      'Origin: null',
      'Sec-Fetch-Site: cross-site',
      'X-Forwarded-For: 203.0.113.9',
      'X-Forwarded-Proto: https',
      'X-HTTP-Method-Override: DELETE',
      'Accept: text/html',
      'Accept-Encoding: br;q=0, *;q=1',
      'If-None-Match: *',
      'If-None-Match: W/"x", "y"',
      'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT',
      'Range: bytes=0-0',
      'Range: bytes=0-,0-,0-,0-',
      'Access-Control-Request-Method: DELETE',
      'Idempotency-Key: a',
      'Idempotency-Key: \u00e9',
      `Idempotency-Key: ${'k'.repeat(300)}`,
      'Content-Encoding: gzip',
      'Connection: close',
      'Connection: close, Host',
      'Expect: 100-continue',
      'Expect: 200-ok',
      'Accept-Language: \u00ff',
      'User-Agent: \u00e9\u00ff',
      `User-Agent: ${'u'.repeat(4000)}`,
      `X-Long: ${'x'.repeat(15_000)}`,
      `Cookie: ${'a=b; '.repeat(500)}`,
    ]),
  ];
}

function bodyOf(random: Random, fixture: Fixture, operation: ContractOperation): { type?: string; body?: Buffer } {
  if (!operation.requestBody) {
    if (!random.chance(0.1)) return {};
    return random.chance(0.5)
      ? { type: 'application/json', body: Buffer.from('{}') }
      : jsonBody(random, fixture, random.pick(contract));
  }
  if (random.chance(0.02)) return {};
  const isJson = operation.requestBody.mediaType === 'application/json';
  return isJson === random.chance(0.95) ? jsonBody(random, fixture, operation) : formBody(random, fixture, operation);
}

/** Adds a framing header to `headers`, and returns the framed body. */
function frame(random: Random, body: Buffer | undefined, headers: string[]): Buffer {
  if (body === undefined) {
    if (random.chance(0.05)) headers.push('Content-Length: 0');
    return Buffer.alloc(0);
  }
  if (random.chance(0.85)) {
    headers.push(`Content-Length: ${body.length}`);
    return body;
  }
  headers.push('Transfer-Encoding: chunked');
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + 1 + random.below(5000));
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
    at += chunk.length;
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

/** Percent-encodes `#` and the characters that a request line cannot contain; existing escapes stay. */
const encodeTarget = (target: string) =>
  target.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed())).replace(/#/g, '%23');

/** Removes characters that a header cannot contain. */
const cleanHeader = (header: string) => header.replace(/[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/gu, '');

/** Lines that mutations insert at random positions: headers, chunk sizes, and the first lines of further requests. */
const LINES = [
  '',
  'Content-Length: 5',
  'Content-Length: 99999999999999999999',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Host: y',
  'Connection: upgrade\r\nUpgrade: h2c',
  'Expect: 100-continue',
  'Authorization: Bearer x',
  'ffffffffffffffff',
  '0\r\n',
  'GET / HTTP/1.1\r\nHost: x\r\n',
  'CONNECT x:1 HTTP/1.1\r\n',
];
const FRAGMENTS = [
  ...LINES.map((line) => `${line}\r\n`),
  ...['\n', '\r', '\0', ' ', '\t', ':', ';', '"', '\r\n\r\n', 'HTTP/2.0', 'HTTP/1.0', 'HTTP/0.9', '\xff\xfe'],
];

/** Returns a copy in which bytes are changed, removed, repeated or inserted at random positions. */
function mutate(random: Random, original: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(original);
  for (let count = 1 + random.below(4); count > 0; count--) {
    // Headers are much shorter than bodies, so half of the changes go there.
    const at = random.below(random.chance(0.5) ? Math.min(bytes.length, 200) + 1 : bytes.length + 1);
    const length = 1 + random.below(20);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    // Changing a byte keeps most of the structure, so it is the most frequent change.
    const changes = [
      () => before,
      () => Buffer.concat([before, after.subarray(length)]),
      () => Buffer.concat([before, after.subarray(0, length), after]),
      () => Buffer.concat([before, Buffer.from(random.pick(FRAGMENTS), 'latin1'), after]),
    ];
    const change = changes[random.below(6)];
    if (change) bytes = change();
    else if (at < bytes.length) bytes.writeUInt8(random.below(256), at);
  }
  return bytes;
}
