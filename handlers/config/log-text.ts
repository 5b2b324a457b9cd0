import { pino } from 'pino';

/** Control characters except newline and tab. They are replaced, because a terminal may interpret them as commands. */
const CONTROL_CHARACTER = /[^\P{Cc}\n\t]/gu;

/**
 * Formats a JSON line of pino for a terminal: a request as `POST /posts/create 201 16 ms`, any other line as its message and
 * fields.
 */
export function formatLogLine(json: string): string {
  const { level, time: _, reqId, msg, err, ...fields } = JSON.parse(json);
  const { method, route, status, ms } = fields;
  const text =
    msg === 'request'
      ? `${method} ${route ?? '(unknown path)'} ${status} ${Math.round(ms)} ms`
      : [msg, ...Object.entries({ ...fields, ...(reqId && { reqId }) }).map(formatField)].join(' ');
  const label = level === pino.levels.values.info ? '' : `${pino.levels.labels[level]}: `;
  const cause = err?.cause === undefined ? '' : `\nCause: ${err.cause}`;
  return `${label}${text}${err ? `\n${err.stack}${cause}` : ''}`.replace(CONTROL_CHARACTER, '�').concat('\n');
}

const formatField = ([name, value]: [string, unknown]) =>
  `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
