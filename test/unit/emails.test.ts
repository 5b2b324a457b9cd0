import t from 'tap';
import { isDisposable, normalizeEmail } from '../../handlers/policy/emails.js';

t.test('trims and lowercases an address', async (t) => {
  t.equal(normalizeEmail(' \tJo.Ann@Example.ORG\n'), 'jo.ann@example.org');
  t.equal(normalizeEmail('jo.ann+posts@example.org'), 'jo.ann+posts@example.org');
  t.equal(normalizeEmail('jo ann@example.org'), 'jo ann@example.org', 'inner white space stays and fails validation');
});

t.test('does not lowercase an address that is too long', async (t) => {
  const long = '\u0130'.repeat(509);
  t.equal(normalizeEmail(` ${long} `), long);
});

t.test('accepts ordinary domains', async (t) => {
  for (const domain of [
    'gmail.com',
    'icloud.com',
    'outlook.com',
    'yahoo.co.uk',
    'proton.me',
    'example.org',
    // Permanent forwarding addresses.
    'duck.com',
    'mozmail.com',
    'simplelogin.com',
    'privaterelay.appleid.com',
    'users.noreply.github.com',
    // Domains that only resemble a disposable one.
    'mailinatorhistory.org',
    'mailinator.com.example.org',
    'com',
  ]) {
    t.equal(isDisposable(`jo@${domain}`), false, domain);
  }
  t.equal(isDisposable('mailinator.com@example.org'), false, 'the local part does not count');
});

t.test('recognizes disposable domains', async (t) => {
  for (const domain of [
    'mailinator.com',
    'guerrillamail.com',
    'yopmail.com',
    'sub.mailinator.com',
    'far.below.mailinator.com',
  ]) {
    t.equal(isDisposable(`jo@${domain}`), true, domain);
  }
  t.equal(isDisposable(`jo@${'.'.repeat(50_000)}mailinator.com`), true, 'a malformed domain is handled in linear time');
});
