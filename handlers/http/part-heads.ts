import { MIMEType } from 'node:util';
import { badBody } from '../errors.js';

/*
 * The heads of the parts of a multipart form: what the parser does not tell of them, and their limits.
 */

export const MAX_NAME_LENGTH = 200;
export const MAX_HEADER_BYTES = 8 * 1024;
export const MAX_HEADERS = 20;

export const badForm = (message: string) => badBody('malformed_form', message);
export const badPart = () =>
  badForm(
    `must have a Content-Disposition of form-data, a name of at most ${MAX_NAME_LENGTH} characters and valid headers in every part`,
  );

/** Matches the head of a part, from the end of its delimiter to its last header. */
const HEAD = new RegExp(`^(\\r\\n\\w[^\\s:]*:[^\\r\\n]*){1,${MAX_HEADERS}}$`);

/**
 * Reads the heads of a form's parts, which follow delimiters (RFC 2046 section 5.1.1), while its bytes pass. Adds the Content-Type
 * of each to `contentTypes`, undefined if it has none.
 *
 * @throws HttpError 400 if a head is malformed
 */
export async function* readHeads(
  bytes: AsyncIterable<Buffer>,
  boundary: string,
  contentTypes: (string | undefined)[],
): AsyncGenerator<Buffer> {
  const delimiter = `\r\n--${boundary}`;
  const start = delimiter.length;
  // The first delimiter may be at the beginning of the body.
  let rest = '\r\n';
  for await (const piece of bytes) {
    rest += piece.toString('latin1');
    for (;;) {
      const at = rest.indexOf(delimiter);
      rest = at < 0 ? rest.slice(-start) : rest.slice(at);
      // What follows the closing delimiter, which ends with `--`, is not part of the form.
      if (rest.startsWith('--', start)) rest = rest.slice(0, start + 2);
      const end = rest.indexOf('\r\n\r\n', start);
      if (end < 0 && rest.length <= MAX_HEADER_BYTES) break;
      // A header may continue on a line that begins with a space.
      const head = rest.slice(start, end).replace(/\r\n(?=[ \t])/g, '');
      if (end < 0 || end > MAX_HEADER_BYTES || !HEAD.test(head)) throw badPart();
      contentTypes.push(/\r\ncontent-type:(.*)/i.exec(head)?.[1]?.trim() || undefined);
      // The line break at the beginning of the next delimiter may be the last one of this head.
      rest = rest.slice(end + 2);
    }
    yield piece;
  }
}

/** Returns a parameter of a Content-Type: null if there is none, and '' if the header is malformed. */
export function parameterOf(contentType: string, name: string): string | null {
  try {
    return new MIMEType(contentType).params.get(name);
  } catch {
    return '';
  }
}
