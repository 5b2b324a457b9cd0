import type { Mutant } from './mutant.js';

/** Input validation, limits and errors. */
export const input: Mutant[] = [
  {
    breach: 'undeclared fields are ignored',
    file: 'handlers/http/validate.ts',
    find: `keyword !== 'if'`,
    replace: 'keyword !== "if" && keyword !== "additionalProperties"',
    caughtBy: ['unknown.query.listPosts', 'unknown.body.login'],
  },
  {
    breach: 'a body is accepted on friend routes',
    file: 'handlers/http/input.ts',
    find: 'operation.refusesEmptyObject || ',
    replace: '',
    caughtBy: ['bodies.none.listFriends'],
  },
  {
    breach: 'an undocumented body is ignored',
    file: 'handlers/http/input.ts',
    find: `if (received.kind === 'invalid') return refuse(received.message);`,
    replace: `if (received.kind === 'invalid') return undefined;`,
    caughtBy: ['bodies.none.listFriends'],
  },
  {
    breach: 'only the first problem is listed',
    file: 'handlers/http/input.ts',
    find: 'throw badRequest(problems)',
    replace: 'throw badRequest(problems.slice(0, 1))',
    caughtBy: ['http.errors.lists-every-problem', 'passwords.policy.lists-every-problem'],
  },
  {
    breach: 'responses lack the rate limit headers',
    file: 'handlers/http/limits.ts',
    find: `'X-RateLimit-Limit': status.max, 'X-RateLimit-Remaining': status.remaining, 'X-RateLimit-Reset': status.ttlInSeconds,`,
    replace: '',
    caughtBy: ['limits.counted.getCurrentAccount', 'document.getCurrentAccount'],
  },
  {
    breach: 'strict routes count in the general bucket',
    file: 'handlers/http/server.ts',
    find: `operation?.rateLimit ?? 'general'`,
    replace: '"general"',
    caughtBy: ['limits.counted.login'],
  },
  {
    breach: 'an unsupported method returns 404',
    file: 'handlers/http/methods.ts',
    find: 'throw methodNotAllowed(allow)',
    replace: 'throw Object.assign(new Error(), { statusCode: 404 })',
    caughtBy: ['http.methods.posts', 'http.methods.literal-paths'],
  },
  {
    breach: 'disposable email addresses are accepted',
    file: 'handlers/policy/emails.ts',
    find: 'labels.some(',
    replace: '[].some(',
    caughtBy: ['accounts.email.disposable', 'accounts.email.disposable-subdomain'],
  },
  {
    breach: 'usernames that differ only in case are both accepted',
    file: 'db/accounts.ts',
    find: 'return username .replace(',
    replace: 'return username; return username.replace(',
    caughtBy: ['accounts.username.unique-under-folding', 'profiles.update.names-in-use'],
  },
  {
    breach: 'a common password is accepted',
    file: 'handlers/policy/passwords.ts',
    find: '[isCommon,',
    replace: '[() => false,',
    caughtBy: ['passwords.policy.common', 'passwords.policy.look-alikes'],
  },
  {
    breach: 'a password with three equal characters in a row is accepted',
    file: 'handlers/policy/passwords.ts',
    find: '/(.)\\1\\1/su',
    replace: '/(.)\\1\\1\\1/su',
    caughtBy: ['passwords.policy.triple-repeat'],
  },
  {
    breach: 'a password that contains the username in another case is accepted',
    file: 'handlers/policy/passwords.ts',
    find: 'key.includes(usernameKey(part))',
    replace: 'key.includes(part)',
    caughtBy: ['passwords.policy.username'],
  },
];
