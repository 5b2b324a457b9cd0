export interface RawResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** The offset of the next response. */
  end: number;
}

/** Thrown when received bytes are not valid HTTP/1.1. The message is the invalid part. */
export class MalformedResponseError extends Error {
  readonly code = 'malformed_response';
}

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_LINE = /^HTTP\/1\.1 (\d{3})(?: [^\r\n]*)?$/;
const FIELD = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/;

/**
 * Parses the first final response at or after `start`, skipping interim ones. Returns undefined if it is incomplete.
 *
 * @throws MalformedResponseError
 */
export function readResponse(received: Buffer, method: string, start = 0): RawResponse | undefined {
  const headEnd = received.indexOf(HEAD_END, start);
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = received.toString('latin1', start, headEnd).split('\r\n');
  const status = Number(STATUS_LINE.exec(first)?.[1] ?? throwMalformed(first));
  const headers = new Headers();
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? throwMalformed(line);
    headers.append(name ?? '', value ?? '');
  }
  const bodyStart = headEnd + HEAD_END.length;
  if (status < 200) return readResponse(received, method, bodyStart);
  if (method === 'HEAD' || status === 204 || status === 304) {
    return { status, headers, bytes: Buffer.alloc(0), end: bodyStart };
  }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(received, bodyStart, status, headers);
  const length = headers.get('content-length') ?? throwMalformed('neither Content-Length nor Transfer-Encoding');
  if (!/^\d+$/.test(length)) throwMalformed(`Content-Length: ${length}`);
  const end = bodyStart + Number(length);
  return received.length < end ? undefined : { status, headers, bytes: received.subarray(bodyStart, end), end };
}

function readChunks(received: Buffer, start: number, status: number, headers: Headers): RawResponse | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = received.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const line = received.toString('latin1', at, lineEnd);
    const size = /^[\da-f]+$/i.test(line) ? Number.parseInt(line, 16) : throwMalformed(`chunk ${line}`);
    const end = lineEnd + 2 + size + 2;
    if (received.length < end) return undefined;
    if (size === 0) return { status, headers, bytes: Buffer.concat(chunks), end };
    chunks.push(received.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = end;
  }
}

function throwMalformed(part: string): never {
  throw new MalformedResponseError(part.slice(0, 200));
}
