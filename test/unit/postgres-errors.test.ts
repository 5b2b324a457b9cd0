import pg from 'pg';
import t from 'tap';
import { isUnavailable } from '../../db/postgres/client.js';

t.test('PostgreSQL counts as unavailable after errors that the statement did not cause, and only then', (t) => {
  const errorOf = (code: string) => Object.assign(new pg.DatabaseError(code, 0, 'error'), { code });
  const codes = ['08006', '28P01', '3D000', '40P01', '53300', '57014', '58030', '25006', '25P03', '55P03'];
  t.same(
    [...codes, '22P02', '23505', '42501'].filter((code) => isUnavailable(errorOf(code))),
    codes,
  );
  t.end();
});
