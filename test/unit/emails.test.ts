import t from 'tap';
import { isDisposable, normalizeEmail } from '../../handlers/policy/emails.js';
import { document } from '../../scripts/contract-test/client/index.js';

t.test('does not lowercase an address that is too long', async (t) => {
  const long = '\u0130'.repeat(509);
  t.equal(normalizeEmail(` ${long} `), long);
});

t.test('the pattern in the document allows the whitespace of Latin-1 that is trimmed', async (t) => {
  const pattern = new RegExp(document.components.schemas.Email.pattern, 'u');
  const latin1 = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code));
  for (const character of latin1.filter((each) => !/[!-~]/.test(each))) {
    const code = character.charCodeAt(0).toString(16);
    t.equal(pattern.test(`${character}jo@example.org${character}`), character.trim() === '', `around: ${code}`);
    t.notMatch(`jo@${character}example.org`, pattern, `within: ${code}`);
  }
});

t.test('accepts ordinary domains', async (t) => {
  const ordinary = 'gmail.com icloud.com outlook.com yahoo.co.uk proton.me example.org com';
  const forwarding = 'duck.com mozmail.com simplelogin.com privaterelay.appleid.com users.noreply.github.com';
  const similar = 'mailinatorhistory.org mailinator.com.example.org';
  for (const domain of [ordinary, forwarding, similar].join(' ').split(' ')) {
    t.equal(isDisposable(`jo@${domain}`), false, domain);
  }
  t.equal(isDisposable('mailinator.com@example.org'), false, 'the local part does not count');
});

t.test('recognizes a disposable domain below many subdomains', async (t) => {
  t.equal(isDisposable('jo@far.below.mailinator.com'), true);
  t.equal(isDisposable(`jo@${'.'.repeat(50_000)}mailinator.com`), true, 'a malformed domain with 50,000 empty labels');
});
