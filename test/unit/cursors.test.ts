import t from 'tap';
import { decodeCursor, encodeCursor } from '../../handlers/cursors.js';

const encode = (text: string) => Buffer.from(text).toString('base64url');

t.test('a cursor is decoded to the key that was encoded', async (t) => {
  for (const key of [
    { createdAt: '2026-01-31T09:30:05.118Z', id: 42 },
    { createdAt: '0001-01-01T00:00:00.000Z', id: 1 },
    { createdAt: '9999-12-31T23:59:59.999Z', id: Number.MAX_SAFE_INTEGER },
    { createdAt: '2024-02-29T00:00:00.000Z', id: 7 },
  ])
    t.same(decodeCursor(encodeCursor(key)), key);
});

t.test('other texts are no cursors', async (t) => {
  const valid = encodeCursor({ createdAt: '2026-01-31T09:30:05.118Z', id: 4 });
  t.equal(valid, 'MjAyNi0wMS0zMVQwOTozMDowNS4xMThaIDQ');
  for (const cursor of [
    '',
    ...[`${valid}=`, ` ${valid}`, `${valid}\n`, `${valid}é`, valid.slice(0, -1), valid.replace(/Q$/, 'R')],
    ...['0000-01-01T00:00:00.000Z 4', '2026-02-30T00:00:00.000Z 4', '2026-01-31T24:00:00.000Z 4'].map(encode),
    ...['2026-01-31T09:30:05.118 4', '2026-01-31T09:30:05Z 4', '2026-01-31T09:30:05.118456Z 4'].map(encode),
    ...['+12026-01-31T09:30:05.118Z 4', 'infinity 4', '2026-01-31T09:30:05.118Z'].map(encode),
    ...['0', '-1', '04', '4.5', '9007199254740992', ' 4', '4 ', ''].map((id) =>
      encode(`2026-01-31T09:30:05.118Z ${id}`),
    ),
  ])
    t.equal(decodeCursor(cursor), undefined, cursor);
});
