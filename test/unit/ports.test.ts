import t from 'tap';
import { findFreePort } from '../../scripts/services/ports.js';

t.test('concurrent calls of findFreePort return different ports', async (t) => {
  const ports = await Promise.all(Array.from({ length: 500 }, findFreePort));
  t.equal(new Set(ports).size, ports.length);
});
