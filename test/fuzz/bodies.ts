import { type ContractOperation, samples } from '../../scripts/contract-test/client/index.js';
import type { Random } from '../support/random.js';
import type { Fixture } from './fixture.js';
import { json, text, usually, words } from './values.js';

interface Body {
  type: string;
  body: Buffer;
}

/** Unusual types of a JSON body. */
const JSON_TYPES = [
  ...['application/json; charset=utf-16', 'text/plain', 'application/JSON', 'application/json;'],
  ...['application/ld+json', 'x'],
];
/** Bodies that are malformed, or valid JSON that code may not expect. */
const UNUSUAL_JSON = [
  ...words(`{ [ {}{} {"a":1,} {'a':1} \ufeff{} null "x" 1e999 {"a":01} {"__proto__":{"x":1}} {"a":"\\ud800"}`),
  ...['', '{"a":"\u0000"}'],
];

/** Returns a JSON body: the operation's example with changed fields, or malformed or arbitrary JSON. */
export function jsonBody(random: Random, fixture: Fixture, operation: ContractOperation): Body {
  const type = usually(random, 'application/json', JSON_TYPES);
  if (random.chance(0.05)) return { type, body: Buffer.from(random.pick(UNUSUAL_JSON)) };
  if (random.chance(0.01)) return { type, body: Buffer.from('[{"a":'.repeat(1 + random.below(10_000))) };
  if (random.chance(0.01)) return { type, body: Buffer.from(JSON.stringify('x'.repeat(random.below(100_000)))) };
  if (random.chance(0.03)) return { type, body: Buffer.from(JSON.stringify(json(random))) };
  const fields = fieldsOf(random, fixture, operation).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  if (random.chance(0.03) && fields[0] !== undefined) fields.push(fields[0]);
  const body = Buffer.from(`{${fields.join(',')}}`);
  if (random.chance(0.03) && body.length > 0) body.writeUInt8(random.below(256), random.below(body.length));
  return { type, body };
}

/** Returns the fields of an example, some of them dropped, changed or added. */
function fieldsOf(random: Random, fixture: Fixture, operation: ContractOperation): [string, unknown][] {
  const examples = Object.values(operation.requestBody?.examples ?? {});
  const example = examples.length > 0 ? random.pick(examples).value : {};
  const { email, username, password } = random.pick(fixture.attackers);
  const known: Record<string, string> = { email, username, password, current_password: password };
  const fields = Object.entries(example)
    .filter(() => random.chance(0.95))
    .map(([name, value]): [string, unknown] => {
      const kind = random.below(10);
      if (kind < 2) return [name, text(random)];
      if (kind < 3) return [name, json(random)];
      return [name, kind < 6 ? (known[name] ?? value) : value];
    });
  const otherNames = ['author_id', 'id', '__proto__', 'private', 'constructor', '', text(random)];
  if (random.chance(0.08)) fields.push([random.pick(otherNames), json(random)]);
  return fields;
}

const PART_TYPES = [
  ...words('image/png image/jpeg image/gif image/webp image/avif image/apng image/jpg image/svg+xml'),
  ...['application/octet-stream', 'text/html', '', 'x', 'multipart/mixed; boundary=b'],
];

/** Returns a form: the operation's example with changed fields, often with an image, sometimes with malformed parts. */
export function formBody(random: Random, fixture: Fixture, operation: ContractOperation): Body {
  const boundary = usually(random, 'fuzz-boundary', ['', '-', 'a b', 'x'.repeat(80), '"']);
  const parts: Buffer[] = fieldsOf(random, fixture, operation)
    .filter(([name]) => name !== 'image')
    .map(([name, value]) =>
      part(random, name, Buffer.from(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))),
    );
  if (random.chance(0.3)) parts.push(imagePart(random));
  if (random.chance(0.05)) parts.push(imagePart(random));
  if (random.chance(0.03) && parts[0]) parts.push(parts[0]);
  if (random.chance(0.005)) parts.push(...Array.from({ length: 1500 }, () => part(random, 'title', Buffer.from('x'))));
  const delimiter = Buffer.from(`--${boundary}\r\n`);
  const end = usually(random, `--${boundary}--\r\n`, ['', `--${boundary}`, '--other--\r\n', `--${boundary}-`]);
  const body = Buffer.concat([...parts.flatMap((each) => [delimiter, each]), Buffer.from(end)]);
  const type = usually(random, `multipart/form-data; boundary=${boundary}`, [
    'multipart/form-data',
    'multipart/mixed; boundary=fuzz-boundary',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=other',
  ]);
  return { type, body };
}

function part(random: Random, name: string, value: Buffer): Buffer {
  const safeName = name.replace(/["\r\n]/g, '_');
  const disposition = usually(random, `Content-Disposition: form-data; name="${safeName}"`, [
    'Content-Disposition: form-data',
    'Content-Disposition: attachment; name=title',
    'X: y',
    `content-disposition: form-data; name=${safeName}; name="b"`,
  ]);
  const type = random.chance(0.05) ? `\r\nContent-Type: ${random.pick(PART_TYPES)}` : '';
  return Buffer.concat([Buffer.from(`${disposition}${type}\r\n\r\n`), value, Buffer.from('\r\n')]);
}

const FILENAMES = ['a.png', '', '../../a.png', 'a\u0000.png', 'x'.repeat(300), 'a.html', '\u00e9.png', '%00'];

function imagePart(random: Random): Buffer {
  const bytes = random.pick(Object.values(samples));
  const type = random.chance(0.5) ? 'application/octet-stream' : random.pick(PART_TYPES);
  const head = `Content-Disposition: form-data; name="${usually(random, 'image', ['file'])}"; filename="${random.pick(FILENAMES)}"`;
  const typed = type === '' ? head : `${head}\r\nContent-Type: ${type}`;
  return Buffer.concat([Buffer.from(`${typed}\r\n\r\n`), bytes, Buffer.from('\r\n')]);
}
