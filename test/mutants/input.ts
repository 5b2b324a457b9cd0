import type { Mutant } from './mutant.js';

/** Input that is taken, and answers that say less, than should be. */
export const input: Mutant[] = [
  {
    breach: 'undeclared fields are passed over instead of refused',
    file: 'handlers/http/judge.js',
    find: '(validate.errors ?? []).map(',
    replace: '(validate.errors ?? []).filter(({ keyword }) => keyword !== "additionalProperties").map(',
    caughtBy: [
      'Endpoints: Any undocumented query field gives 400: GET /posts',
      'Endpoints: Any undocumented body field gives 400: POST /auth/login',
    ],
  },
  {
    breach: 'a body on a friend route is accepted',
    file: 'handlers/http/input.js',
    find: 'operation.refusesEmptyObject || ',
    replace: '',
    caughtBy: ['Friends: never a body'],
  },
  {
    breach: 'a body that nobody has asked for is passed over',
    file: 'handlers/http/input.js',
    find: 'if (brought.kind === "bad") return refuse(brought.message);',
    replace: 'if (brought.kind === "bad") return void 0;',
    caughtBy: ['Status codes: a body on an operation that documents none, whatever its type: 400: GET /friends'],
  },
  {
    breach: 'only the first problem is listed',
    file: 'handlers/http/input.js',
    find: 'throw badRequest(problems)',
    replace: 'throw badRequest(problems.slice(0, 1))',
    caughtBy: [
      'Representation, errors: Every problem of one request',
      'Representation, errors: Every problem of one password',
    ],
  },
  {
    breach: 'answers do not tell the rate limit',
    file: 'handlers/http/limits.js',
    find: `reply.headers({
      "X-RateLimit-Limit": standing.max,
      "X-RateLimit-Remaining": standing.remaining,
      "X-RateLimit-Reset": standing.ttlInSeconds
    });`,
    replace: '',
    caughtBy: ['Rules, rate limits: Every answer carries', 'openapi.yaml, getCurrentAccount: '],
  },
  {
    breach: 'strict routes are counted with all others',
    file: 'handlers/http/server.js',
    find: 'operation?.rateLimit ?? "general"',
    replace: '"general"',
    caughtBy: ['Rules, rate limits: two buckets'],
  },
  {
    breach: 'a method that an address lacks is 404',
    file: 'handlers/http/methods.js',
    find: 'throw methodNotAllowed(allow)',
    replace: 'throw Object.assign(new Error(), { statusCode: 404 })',
    caughtBy: ['Status codes: a method that a path lacks: 405', 'Status codes: on literal paths too'],
  },
  {
    breach: 'disposable addresses are accepted',
    file: 'handlers/emails.js',
    find: 'labels.some(',
    replace: '[].some(',
    caughtBy: [
      'Input rules, registration: email: not disposable',
      'Rules: a disposable domain is refused with what is below it',
    ],
  },
  {
    breach: 'usernames that differ in case are two',
    file: 'db/accounts.js',
    find: 'username.normalize("NFKC").toLowerCase().toUpperCase().normalize("NFKC")',
    replace: 'username',
    caughtBy: ['Rules: username: unique without regard to case', 'Status codes: taken username or email'],
  },
  {
    breach: 'a password may be a common one',
    file: 'handlers/passwords.js',
    find: '[isCommon,',
    replace: '[() => false,',
    caughtBy: ['Input rules, password policy: must not be a common password', 'Rules: undoing look-alikes'],
  },
  {
    breach: 'a password may repeat a character',
    file: 'handlers/passwords.js',
    find: '/(.)\\1\\1/su',
    replace: '/(.)\\1\\1\\1/su',
    caughtBy: ['Input rules, password policy: must not contain a triple repeat'],
  },
  {
    breach: 'a password may hold the username in another case',
    file: 'handlers/passwords.js',
    find: 'usernameKey(password).includes(usernameKey(part))',
    replace: 'password.includes(part)',
    caughtBy: ['Input rules, password policy: must not contain the username'],
  },
];
