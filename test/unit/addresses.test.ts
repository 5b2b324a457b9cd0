import t from 'tap';
import { addressKey, createAddressSet, includesAddress } from '../../handlers/addresses.js';

t.test('all addresses of an IPv6 /64 network have the same key', async (t) => {
  for (const address of ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:0002::abcd']) {
    t.equal(addressKey(address), addressKey('2001:db8:1:2::3'), address);
  }
  t.not(addressKey('2001:db8:1:2::3'), addressKey('2001:db8:1:3::3'));
});

t.test('an undefined address, as after the client has reset its connection, has a key', async (t) => {
  t.type(addressKey(undefined), 'string');
});

t.test('a set contains its addresses and the addresses of its ranges', async (t) => {
  const set = createAddressSet(['203.0.113.7', '10.0.0.0/8', '2001:db8::/32']);
  for (const address of ['203.0.113.7', '10.1.2.3', '2001:db8:ff::1']) t.ok(includesAddress(set, address), address);
  for (const address of ['203.0.113.8', '11.1.2.3', '2001:db9::1', '']) t.notOk(includesAddress(set, address), address);
});
