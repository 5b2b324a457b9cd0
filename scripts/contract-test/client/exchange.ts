import type { IncomingMessage } from 'node:http';
import { formOf } from '../../support/request.js';

/** The credentials, headers and body of a request, and whether it is retried. */
export interface RequestContent {
  token?: string | undefined;
  json?: unknown;
  form?: Record<string, string | File>;
  /** A raw body. Its type must be in `headers`. */
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  /** A header that is sent once for each value. */
  repeated?: [name: string, ...values: string[]];
  /** Whether to send the request immediately, and to return a 429 or 503 without a retry. */
  immediate?: boolean;
}

export interface ReceivedResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: rules know the shape of the responses, which the document check verifies.
  body: any;
  bytes: Buffer;
}

export interface CheckedResponse extends ReceivedResponse {
  /** The request and the response, for a report. */
  exchange: Exchange;
}

/** A request and its response. */
export interface Exchange {
  method: string;
  url: string;
  sent: RequestContent;
  received: ReceivedResponse;
}

interface Body extends Pick<RequestContent, 'json' | 'body'> {
  form?: Record<string, string | Blob>;
}

/** Returns the bytes of a body, and its media type unless the body is raw. */
export async function encodeBody({ json, form, body }: Body): Promise<{ type?: string; body?: Uint8Array }> {
  if (json !== undefined) return { type: 'application/json', body: Buffer.from(JSON.stringify(json)) };
  if (body !== undefined) return { body: Buffer.from(body) };
  if (form === undefined) return {};
  const encoded = new Response(formOf(form));
  return { type: encoded.headers.get('content-type') ?? '', body: new Uint8Array(await encoded.arrayBuffer()) };
}

export function readHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** Returns the claims of a JWT, or an empty object if it has none. Does not verify the signature. */
export function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');
}

const MAX_BODY_CHARACTERS = 1500;
const MAX_VALUE_CHARACTERS = 600;
const MAX_FILE_BYTES = 1024;

/** Replaces tokens and passwords with `$TOKEN`, `$PASSWORD` and `$CURRENT_PASSWORD`. */
export function maskSecrets(text: string): string {
  return text
    .replace(/eyJ[\w-]+(\.[\w-]*){1,2}/g, '$TOKEN')
    .replace(/(fc_session_token=|Bearer )[^\s;,"'$]{16,}/g, '$1$TOKEN')
    .replace(/("token" *: *)"(?!\$)[^"]*"/g, '$1"$TOKEN"')
    .replace(/("(current_)?password" *: *)"(\\.|[^"\\])*"/gi, (_, head, current) => `${head}"${passwordName(current)}"`)
    .replace(
      /(name="(current_)?password"[\s\S]*?\r\n\r\n)[^\r]*/g,
      (_, head, current) => `${head}${passwordName(current)}`,
    );
}

const passwordName = (current: string | undefined) => (current ? '$CURRENT_PASSWORD' : '$PASSWORD');

export function shorten(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}… (${text.length} characters)` : text;
}

/**
 * Returns a request and its response as text, without secrets. The request is a `curl` command for bash, which may use `<(…)`
 * and `$'…'`.
 */
export async function describeExchange({ method, url, sent, received }: Exchange) {
  const lines = [
    `curl -i ${method === 'HEAD' ? '-I' : `-X ${method}`}${isChangedByCurl(url) ? ' -g --path-as-is' : ''} ${quote(url)}`,
    ...headerArguments(sent),
    ...(await bodyArguments(sent)),
  ];
  const { status, headers } = received;
  return {
    request: lines.join(' \\\n  '),
    response: {
      status,
      headers: [...headers].map(([name, value]) => maskSecrets(`${name}: ${value}`)),
      body: describeBody(received),
    },
  };
}

export type ExchangeDescription = Awaited<ReturnType<typeof describeExchange>>;

/** Returns whether curl would change the URL by default. */
const isChangedByCurl = (url: string) => /[[\]{}]|\/\.\.?(\/|\?|$)/.test(url);

function describeBody({ headers, bytes }: ReceivedResponse): string {
  const type = headers.get('content-type') ?? 'no type';
  if (!/json|text|xml|yaml/.test(type)) return bytes.length > 0 ? `(${bytes.length} bytes of ${type})` : '';
  return shorten(maskSecrets(bytes.toString()), MAX_BODY_CHARACTERS);
}

function headerArguments({ token, json, headers = {}, repeated }: RequestContent): string[] {
  const [repeatedName, ...values] = repeated ?? [];
  return [
    ...(token !== undefined ? [`Authorization: Bearer ${token}`] : []),
    ...(json !== undefined ? ['Content-Type: application/json'] : []),
    // With `name;`, curl sends an empty header.
    ...[...Object.entries(headers), ...values.map((value) => [repeatedName, value])].map(([name, value]) =>
      value === '' ? `${name};` : `${name}: ${value}`,
    ),
  ].map((header) => `-H ${quote(maskSecrets(header))}`);
}

async function bodyArguments({ json, form, body }: RequestContent): Promise<string[]> {
  if (json !== undefined)
    return [`--data-raw ${quote(shorten(maskSecrets(JSON.stringify(json)), MAX_BODY_CHARACTERS))}`];
  if (body !== undefined) return [`--data-binary ${rawBodyArgument(Buffer.from(body))}`];
  return Promise.all(Object.entries(form ?? {}).map(([name, value]) => formArgument(name, value)));
}

async function formArgument(name: string, value: string | File): Promise<string> {
  if (typeof value === 'string') {
    const secret = /^(current_)?password$/.exec(name);
    const shown = secret ? passwordName(secret[1]) : shorten(value, MAX_VALUE_CHARACTERS);
    return `--form-string ${quote(`${name}=${shown}`)}`;
  }
  const details = quote(`;filename="${value.name}"${value.type ? `;type=${value.type}` : ''}`);
  const source =
    value.size <= MAX_FILE_BYTES ? fromBase64(Buffer.from(await value.arrayBuffer())) : zeroBytes(value.size);
  return `-F ${name}=@${source}${details}`;
}

/** Returns the value of `--data-binary` for a body, without its secrets. */
function rawBodyArgument(bytes: Buffer): string {
  const masked = maskSecrets(bytes.toString('latin1'));
  const text = Buffer.from(masked, 'latin1').toString();
  if (masked.length > MAX_BODY_CHARACTERS) return `@${zeroBytes(bytes.length)}`;
  return /[\0\ufffd]/.test(text) ? `@${fromBase64(Buffer.from(masked, 'latin1'))}` : quote(text);
}

/** Returns a process substitution that produces these bytes. */
const fromBase64 = (bytes: Buffer) => `<(echo ${bytes.toString('base64')} | base64 -d)`;
/** Returns a process substitution that produces this number of zero bytes. */
const zeroBytes = (bytes: number) => `<(head -c ${bytes} /dev/zero)`;

/** Quotes a text for the shell. Variables that stand for secrets are expanded. */
function quote(text: string): string {
  const parts = text.split(/(\$TOKEN|\$PASSWORD|\$CURRENT_PASSWORD)/).filter((part) => part !== '');
  return parts.map((part) => (part.startsWith('$') ? `"${part}"` : quoteLiteral(part))).join('') || "''";
}

function quoteLiteral(text: string): string {
  if (!/[\x00-\x1f\x7f]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[\\']/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return `$'${escaped.replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
}
