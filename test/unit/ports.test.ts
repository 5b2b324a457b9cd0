import t from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';

t.test('servers that are started together get different ports', async (t) => {
  const ports = await Promise.all(Array.from({ length: 500 }, findFreePort));
  t.equal(new Set(ports).size, ports.length);
});
