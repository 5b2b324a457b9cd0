import t from 'tap';
import { isDisposable, normalizeEmail } from '../../handlers/policy/emails.js';

t.test('an address is trimmed and lowercased', async (t) => {
  t.equal(normalizeEmail(' \tJo.Ann@Example.ORG\n'), 'jo.ann@example.org');
  t.equal(normalizeEmail('jo.ann+posts@example.org'), 'jo.ann+posts@example.org');
  t.equal(normalizeEmail('jo ann@example.org'), 'jo ann@example.org', 'what is inside stays, for the shape to refuse');
});

t.test('an address that is too long is not put in lower case, which may make it longer still', async (t) => {
  const long = '\u0130'.repeat(509);
  t.equal(normalizeEmail(` ${long} `), long);
});

t.test('addresses of people', async (t) => {
  for (const domain of [
    'gmail.com',
    'icloud.com',
    'outlook.com',
    'yahoo.co.uk',
    'proton.me',
    'example.org',
    // Forwarders that people keep for good.
    'duck.com',
    'mozmail.com',
    'simplelogin.com',
    'privaterelay.appleid.com',
    'users.noreply.github.com',
    // Names that only look like a disposable one.
    'mailinatorhistory.org',
    'mailinator.com.example.org',
    'com',
  ]) {
    t.equal(isDisposable(`jo@${domain}`), false, domain);
  }
  t.equal(isDisposable('mailinator.com@example.org'), false, 'the local part does not count');
});

t.test('throw-away addresses', async (t) => {
  for (const domain of [
    'mailinator.com',
    'guerrillamail.com',
    'yopmail.com',
    'sub.mailinator.com',
    'far.below.mailinator.com',
  ]) {
    t.equal(isDisposable(`jo@${domain}`), true, domain);
  }
  t.equal(isDisposable(`jo@${'.'.repeat(50_000)}mailinator.com`), true, 'a domain that is none, in little time');
});
