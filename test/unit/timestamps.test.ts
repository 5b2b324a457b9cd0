import t from 'tap';
import { typeParsers } from '../../db/postgres/client.js';

const TIMESTAMPTZ = 1184;

t.test('timestamps of PostgreSQL are converted to RFC 3339 in UTC, with milliseconds', async (t) => {
  const parse = typeParsers.getTypeParser(TIMESTAMPTZ) as (text: string) => string;
  const expected = {
    '2026-01-02 03:04:05.678+00': '2026-01-02T03:04:05.678Z',
    '2026-01-02 03:04:05.6+00': '2026-01-02T03:04:05.600Z',
    '2026-01-02 03:04:05+00': '2026-01-02T03:04:05.000Z',
    '2026-01-02 03:04:05.678901+00': '2026-01-02T03:04:05.678Z',
    '2026-01-02 03:04:05.06+05:30': '2026-01-01T21:34:05.060Z',
    '2026-01-02 23:04:05-08': '2026-01-03T07:04:05.000Z',
  };
  for (const [text, timestamp] of Object.entries(expected)) t.equal(parse(text), timestamp, text);
});
