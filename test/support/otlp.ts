import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Lifetime } from './lifetime.js';
import { listen } from './listen.js';

/*
 * A receiver of traces: OTLP over HTTP with protobuf (opentelemetry/proto/collector/trace/v1/trace_service.proto), on
 * 127.0.0.1. It keeps all request bodies, and the spans of the requests that it accepts.
 */

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for a root span. */
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'server' | 'client';
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** The resource attributes, which describe the process. */
  resource: Record<string, string | number>;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver(t: Lifetime) {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  let status: number | undefined = 200;
  let headers: NodeJS.Dict<string | string[]> = {};
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isTraces = request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
    if (isTraces && status === 200) spans.push(...decodeSpans(body));
    headers = request.headers;
    bodies.push(body);
    if (status !== undefined) response.writeHead(isTraces ? status : 404).end();
    server.emit('received');
  });
  return {
    url: `http://127.0.0.1:${await listen(t, server)}`,
    spans,
    bodies,
    /** Returns the headers of the latest request. */
    headers: () => headers,
    /** Sets the status of further responses, or stops responding if it is undefined. Spans are kept only if it is 200. */
    respondWith(newStatus: number | undefined) {
      status = newStatus;
    },
    /** Waits for requests until the condition holds. */
    async until(condition: () => boolean) {
      while (!condition()) await once(server, 'received');
    },
  };
}

const KINDS = { 1: 'internal', 2: 'server', 3: 'client' } as Record<number, ReceivedSpan['kind']>;
const ERROR_STATUS = 2n;

/** Decodes an ExportTraceServiceRequest. */
function decodeSpans(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1);
    const scopes = messages(resourceSpans, 2);
    return scopes.flatMap((scope) => messages(scope, 2)).map((span) => ({ ...decodeSpan(span), resource }));
  });
}

const decodeSpan = (span: Buffer): Omit<ReceivedSpan, 'resource'> => ({
  ...spanContextOf(span),
  parentSpanId: messages(span, 4)[0]?.toString('hex') ?? '',
  name: messages(span, 5)[0]?.toString() ?? '',
  kind: KINDS[Number(numbers(span, 6)[0])] ?? 'internal',
  startNs: numbers(span, 7)[0] ?? 0n,
  endNs: numbers(span, 8)[0] ?? 0n,
  attributes: attributesOf(span, 9),
  links: messages(span, 13).map(spanContextOf),
  isError: messages(span, 15).some((status) => numbers(status, 3)[0] === ERROR_STATUS),
});

const spanContextOf = (message: Buffer) => ({
  traceId: messages(message, 1)[0]?.toString('hex') ?? '',
  spanId: messages(message, 2)[0]?.toString('hex') ?? '',
});

/** Decodes a repeated KeyValue. Supports only strings and integers, the types of values that the service sends. */
const attributesOf = (message: Buffer, field: number): Record<string, string | number> =>
  Object.fromEntries(
    messages(message, field).map((pair) => {
      const value = messages(pair, 2)[0] ?? Buffer.alloc(0);
      return [
        messages(pair, 1)[0]?.toString() ?? '',
        messages(value, 1)[0]?.toString() ?? Number(numbers(value, 3)[0]),
      ];
    }),
  );

/** Returns the values of a field of strings, bytes or messages. */
const messages = (message: Buffer, field: number): Buffer[] =>
  fieldsOf(message).flatMap(({ number, value }) => (number === field && Buffer.isBuffer(value) ? [value] : []));

/** Returns the values of a field of integers. */
const numbers = (message: Buffer, field: number): bigint[] =>
  fieldsOf(message).flatMap(({ number, value }) => (number === field && typeof value === 'bigint' ? [value] : []));

function fieldsOf(message: Buffer): { number: number; value: bigint | Buffer }[] {
  const fields: { number: number; value: bigint | Buffer }[] = [];
  let position = 0;
  const take = (length: number) => {
    position += length;
    if (position > message.length) throw new Error('the protobuf message is truncated');
    return message.subarray(position - length, position);
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = take(1).readUInt8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const decoders: Record<number, () => bigint | Buffer> = {
    0: varint,
    1: () => take(8).readBigUInt64LE(),
    2: () => take(Number(varint())),
    5: () => BigInt(take(4).readUInt32LE()),
  };
  while (position < message.length) {
    const tag = Number(varint());
    const decode = decoders[tag & 7];
    if (!decode) throw new Error(`unknown wire type ${tag & 7}`);
    fields.push({ number: tag >> 3, value: decode() });
  }
  return fields;
}
