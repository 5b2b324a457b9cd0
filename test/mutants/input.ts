import type { Mutant } from './mutant.js';

/** Input that is taken, and answers that say less, than should be. */
export const input: Mutant[] = [
  {
    breach: 'undeclared fields are passed over instead of refused',
    file: 'handlers/http/validate.ts',
    find: `keyword !== 'if'`,
    replace: 'keyword !== "if" && keyword !== "additionalProperties"',
    caughtBy: ['unknown.query.listPosts', 'unknown.body.login'],
  },
  {
    breach: 'a body on a friend route is accepted',
    file: 'handlers/http/input.ts',
    find: 'operation.refusesEmptyObject || ',
    replace: '',
    caughtBy: ['bodies.none.listFriends'],
  },
  {
    breach: 'a body that nobody has asked for is passed over',
    file: 'handlers/http/input.ts',
    find: `if (brought.kind === 'bad') return refuse(brought.message);`,
    replace: `if (brought.kind === 'bad') return undefined;`,
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
    breach: 'answers do not tell the rate limit',
    file: 'handlers/http/limits.ts',
    find: `'X-RateLimit-Limit': standing.max, 'X-RateLimit-Remaining': standing.remaining, 'X-RateLimit-Reset': standing.ttlInSeconds,`,
    replace: '',
    caughtBy: ['limits.counted.getCurrentAccount', 'document.getCurrentAccount'],
  },
  {
    breach: 'strict routes are counted with all others',
    file: 'handlers/http/server.ts',
    find: `operation?.rateLimit ?? 'general'`,
    replace: '"general"',
    caughtBy: ['limits.counted.login'],
  },
  {
    breach: 'a method that an address lacks is 404',
    file: 'handlers/http/methods.ts',
    find: 'throw methodNotAllowed(allow)',
    replace: 'throw Object.assign(new Error(), { statusCode: 404 })',
    caughtBy: ['http.methods.posts', 'http.methods.literal-paths'],
  },
  {
    breach: 'disposable addresses are accepted',
    file: 'handlers/policy/emails.ts',
    find: 'labels.some(',
    replace: '[].some(',
    caughtBy: ['accounts.email.disposable', 'accounts.email.disposable-subdomain'],
  },
  {
    breach: 'usernames that differ in case are two',
    file: 'db/accounts.ts',
    find: 'return username .replace(',
    replace: 'return username; return username.replace(',
    caughtBy: ['accounts.username.unique-under-folding', 'profiles.update.names-in-use'],
  },
  {
    breach: 'a password may be a common one',
    file: 'handlers/policy/passwords.ts',
    find: '[isCommon,',
    replace: '[() => false,',
    caughtBy: ['passwords.policy.common', 'passwords.policy.look-alikes'],
  },
  {
    breach: 'a password may repeat a character',
    file: 'handlers/policy/passwords.ts',
    find: '/(.)\\1\\1/su',
    replace: '/(.)\\1\\1\\1/su',
    caughtBy: ['passwords.policy.triple-repeat'],
  },
  {
    breach: 'a password may hold the username in another case',
    file: 'handlers/policy/passwords.ts',
    find: 'key.includes(usernameKey(part))',
    replace: 'key.includes(part)',
    caughtBy: ['passwords.policy.username'],
  },
];
