import { type ContractOperation, contract, samples } from '../../scripts/contract-test/client/index.js';
import type { Random } from '../support/random.js';

/*
 * Random requests that no tool sends from an OpenAPI document: broken multipart forms, and HTTP requests with bytes changed,
 * removed, repeated or inserted.
 */

export interface FuzzRequest {
  operation: ContractOperation;
  bytes: Buffer;
  /** The number of bytes before a pause; the length of `bytes` if there is none. */
  pauseAfter: number;
  /** Whether the bytes are one complete HTTP request, which must have exactly one response. */
  isComplete: boolean;
}

// These would end the session or the account of the fuzzer.
const EXCLUDED = ['logout', 'deleteSession', 'deleteOtherSessions', 'deleteAccount'];
const operations = contract.filter(({ id }) => !EXCLUDED.includes(id));
const withForm = operations.filter(({ requestBody }) => requestBody?.mediaType === 'multipart/form-data');

/** Returns the usual value, or rarely one of the others. */
const usually = <Value>(random: Random, value: Value, others: readonly Value[]): Value =>
  random.chance(0.9) ? value : random.pick(others);

/** Returns a request with these credentials, whose ids are that of a post. */
export function randomRequest(random: Random, token: string, postId: number): FuzzRequest {
  const isForm = random.chance(0.5);
  const operation = random.pick(isForm ? withForm : operations);
  const composed = compose(random, operation, token, postId);
  const isComplete = isForm && random.chance(0.7);
  const bytes = isComplete ? composed : mutate(random, composed);
  // The service often detects the errors of a body near its end.
  const pauses = [
    bytes.length,
    random.below(bytes.length + 1),
    bytes.length - random.below(Math.min(bytes.length, 100)),
  ];
  return { operation, bytes, pauseAfter: random.pick(pauses), isComplete };
}

function compose(random: Random, operation: ContractOperation, token: string, postId: number): Buffer {
  const { method, path, query, requestBody } = operation;
  const parameters = query.filter(({ required }) => required).map(({ name }) => `${name}=${postId}`);
  const target = [path.replace(/\{\w+\}/, `${postId}`), ...(parameters.length > 0 ? [parameters.join('&')] : [])];
  const lines = [
    `${method} ${target.join('?')} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Connection: close',
  ];
  if (!requestBody) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const example = Object.values(requestBody.examples ?? {})[0]?.value ?? {};
  const { type, body } =
    requestBody.mediaType === 'application/json'
      ? { type: requestBody.mediaType, body: Buffer.from(JSON.stringify(example)) }
      : form(random, Object.entries(example));
  const isChunked = random.chance(0.2);
  lines.push(`Content-Type: ${type}`, isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  const framed = isChunked ? [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'] : [body];
  return Buffer.concat([`${lines.join('\r\n')}\r\n\r\n`, ...framed].map((piece) => Buffer.from(piece as Buffer)));
}

/** Returns a form of these fields and images, with malformed parts and boundaries. */
function form(random: Random, fields: [name: string, value: unknown][]): { type: string; body: Buffer } {
  const boundary = usually(random, 'fuzz-boundary', ['', '-', 'a b', 'x'.repeat(80), '"']);
  const texts = fields.filter(([name]) => !/image|password/.test(name));
  const parts = texts.map(([name, value]) => part(random, name, Buffer.from(`${value}`)));
  while (random.chance(0.4)) parts.push(part(random, 'image', random.pick(Object.values(samples)), true));
  if (parts[0] && random.chance(0.05))
    parts.push(...Array.from({ length: random.pick([1, 1500]) }, () => parts[0] as Buffer));
  const delimiter = Buffer.from(`--${boundary}\r\n`);
  const end = usually(random, `--${boundary}--\r\n`, ['', `--${boundary}`, '--other--\r\n', `--${boundary}-`]);
  const type = usually(random, `multipart/form-data; boundary=${boundary}`, [
    'multipart/form-data',
    'multipart/mixed; boundary=fuzz-boundary',
    'multipart/form-data; boundary=other',
  ]);
  return { type, body: Buffer.concat([...parts.flatMap((each) => [delimiter, each]), Buffer.from(end)]) };
}

const NAMES = ['__proto__', 'constructor', '', 'author_id', '\u00e9', 'a"; name="b', 'x'.repeat(300)];
const FILE_NAMES = ['', '../../a.png', 'a\0.png', 'x'.repeat(300), 'a.html', '%00'];
const PART_TYPES = ['', 'x', 'text/html', 'image/svg+xml', 'application/octet-stream', 'multipart/mixed; boundary=b'];

function part(random: Random, usualName: string, value: Buffer, isFile = false): Buffer {
  const name = usually(random, usualName, NAMES);
  const file = isFile || random.chance(0.03) ? `; filename="${usually(random, 'a.png', FILE_NAMES)}"` : '';
  const disposition = usually(random, `Content-Disposition: form-data; name="${name}"${file}`, [
    'Content-Disposition: form-data',
    'Content-Disposition: attachment; name=title',
    'X: y',
    'no header',
  ]);
  const type = isFile || random.chance(0.1) ? `\r\nContent-Type: ${usually(random, 'image/png', PART_TYPES)}` : '';
  return Buffer.concat([Buffer.from(`${disposition}${type}\r\n\r\n`), value, Buffer.from('\r\n')]);
}

/** Pieces that mutations insert: headers, chunk sizes, first lines of further requests, and signs of the syntax. */
const PIECES = [
  ...['Content-Length: 5', 'Content-Length: 99999999999999999999', 'Content-Length: -1', 'Transfer-Encoding: chunked'],
  ...['Transfer-Encoding: gzip, chunked', 'Host: y', 'Connection: upgrade\r\nUpgrade: h2c', 'Expect: 100-continue'],
  ...[
    'Authorization: Bearer x',
    'ffffffffffffffff',
    '0\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\n',
    'CONNECT x:1 HTTP/1.1\r\n',
  ],
].map((line) => `${line}\r\n`);
PIECES.push(
  ...['\n', '\r', '\0', ' ', ':', ';', '"', '%ff', '\r\n\r\n', 'HTTP/2.0', 'HTTP/1.0', 'HTTP/0.9', '\xff\xfe'],
);

/** Returns a copy in which bytes are changed, removed, repeated or inserted at random positions. */
function mutate(random: Random, original: Buffer): Buffer {
  let bytes: Buffer = Buffer.from(original);
  for (let count = 1 + random.below(4); count > 0; count--) {
    // Headers are much shorter than bodies, so half of the changes go there.
    const at = random.below(random.chance(0.5) ? Math.min(bytes.length, 200) + 1 : bytes.length + 1);
    const length = 1 + random.below(20);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    bytes = Buffer.concat(
      random.pick([
        [before, Buffer.from([random.below(256)]), after.subarray(1)],
        [before, Buffer.from([random.below(256)]), after.subarray(1)],
        [before],
        [before, after.subarray(length)],
        [before, after.subarray(0, length), after],
        [before, Buffer.from(random.pick(PIECES), 'latin1'), after],
      ]),
    );
  }
  return bytes;
}
