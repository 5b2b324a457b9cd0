import { hash } from '@node-rs/argon2';
import t from 'tap';
import {
  DUMMY_HASH,
  HASH_CONCURRENCY,
  hashPassword,
  hashQueue,
  needsRehash,
  verifyPassword,
} from '../../handlers/security/password-hashing.js';

t.test('verifies a password only against its own hash', async (t) => {
  const stored = await hashPassword('TestHarbour!77');
  t.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal(await verifyPassword(stored, 'TestHarbour!77'), true);
  t.equal(await verifyPassword(stored, 'TestHarbour!78'), false);
  t.not(await hashPassword('TestHarbour!77'), stored, 'the salt is fresh');
});

t.test('a malformed hash matches no password', async (t) => {
  for (const malformed of ['', 'TestHarbour!77', '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA']) {
    t.equal(await verifyPassword(malformed, 'TestHarbour!77'), false, malformed);
  }
});

t.test('verifies a hash with other parameters, and reports that it needs rehashing', async (t) => {
  t.equal(needsRehash(await hashPassword('TestHarbour!77')), false);
  for (const other of [
    { memoryCost: 8192 },
    { timeCost: 3 },
    { parallelism: 2 },
    { algorithm: 1 },
    { outputLen: 16 },
  ]) {
    const stored = await hash('TestHarbour!77', other);
    t.equal(await verifyPassword(stored, 'TestHarbour!77'), true);
    t.equal(needsRehash(stored), true, stored);
  }
});

t.test('no password matches the dummy hash, which has the parameters and lengths of a real one', async (t) => {
  t.equal(await verifyPassword(DUMMY_HASH, 'TestHarbour!78'), false);
  const parts = (hash: string) => hash.split('$').map((part, index) => (index < 4 ? part : part.length));
  t.same(parts(DUMMY_HASH), parts(await hashPassword('TestHarbour!77')));
});

t.test('a burst of passwords leaves a thread of the pool free', async (t) => {
  const burst = Array.from({ length: 6 }, () => hashPassword('TestHarbour!77'));
  t.match(hashQueue.usage, { running: HASH_CONCURRENCY, waiting: 6 - HASH_CONCURRENCY });
  t.ok(HASH_CONCURRENCY < 4, 'the pool has four threads');
  // On a busy machine, the queue may refuse some of them.
  await Promise.allSettled(burst);
});
