import type { Mutants } from './mutant.js';

export const input: Mutants = {
  'undeclared fields are ignored': {
    file: 'handlers/http/field-validation.ts',
    find: `keyword !== 'if'`,
    replace: 'keyword !== "if" && keyword !== "additionalProperties"',
    caughtBy: ['unknown.query.listPosts', 'unknown.body.login'],
  },
  'an empty JSON object is accepted on friend routes': {
    file: 'handlers/http/input.ts',
    find: 'operation.refusesEmptyObject || ',
    replace: '',
    caughtBy: ['bodies.none.listFriends'],
  },
  'an invalid or unexpected body is ignored': {
    file: 'handlers/http/input.ts',
    find: `if (received.kind === 'invalid') return refusedBody(received.reason);`,
    replace: `if (received.kind === 'invalid') return { fields: undefined, problems: [] };`,
    caughtBy: ['bodies.none.listFriends'],
  },
  'a read starts before its body has arrived': {
    file: 'handlers/http/early-execution.ts',
    find: '!mayHaveBody(request)',
    replace: 'true',
    caughtBy: ['bodies.none.getPost'],
  },
  'only the first problem is listed': {
    file: 'handlers/http/input.ts',
    find: 'throw badRequest(problems)',
    replace: 'throw badRequest(problems.slice(0, 1))',
    caughtBy: ['http.errors.lists-every-problem', 'passwords.policy.lists-every-problem'],
  },
  'an empty text has two problems': {
    file: 'handlers/http/field-validation.ts',
    find: `if (data === '' && keyword !== 'type') return [reason('blank')];`,
    replace: '',
    caughtBy: ['fields.codes.text', 'fields.codes.account'],
  },
  'a problem is listed as often as it occurs': {
    file: 'handlers/http/errors.ts',
    find: '[...distinct.values()].slice(0, MAX_PROBLEMS)',
    replace: 'problems.slice(0, MAX_PROBLEMS)',
    caughtBy: ['fields.codes.forms'],
  },
  'responses lack the rate limit headers': {
    file: 'handlers/http/rate-limits.ts',
    find: `'X-RateLimit-Limit': status.max, 'X-RateLimit-Remaining': status.remaining, 'X-RateLimit-Reset': status.ttlInSeconds,`,
    replace: '',
    caughtBy: ['limits.counted.getCurrentAccount', 'document.getCurrentAccount'],
  },
  'RateLimit states the limit instead of the remaining requests': {
    file: 'handlers/http/rate-limits.ts',
    find: 'status.remaining};t=',
    replace: 'status.max};t=',
    caughtBy: ['limits.fields'],
  },
  'strict routes count in the general bucket': {
    file: 'handlers/http/server.ts',
    find: `operation?.rateLimit ?? 'general'`,
    replace: '"general"',
    caughtBy: ['limits.counted.login'],
  },
  'an unsupported method returns 404': {
    file: 'handlers/http/methods.ts',
    find: 'throw methodNotAllowed(allow)',
    replace: 'throw Object.assign(new Error(), { statusCode: 404 })',
    caughtBy: ['http.methods.posts'],
  },
  'disposable email addresses are accepted': {
    file: 'handlers/policy/emails.ts',
    find: 'labels.some(',
    replace: '[].some(',
    caughtBy: ['fields.email.refused.register', 'fields.email.refused.update'],
  },
  'usernames that differ only in case are both accepted': {
    file: 'db/accounts.ts',
    find: 'export const usernameKey = nfkcCasefold;',
    replace: 'export const usernameKey = (username) => username;',
    caughtBy: ['accounts.username.unique-under-folding', 'profiles.update.taken'],
  },
  'a common password is accepted': {
    file: 'handlers/policy/passwords.ts',
    find: '[isCommon,',
    replace: '[() => false,',
    caughtBy: ['passwords.policy.common', 'passwords.policy.look-alikes'],
  },
  'a password with three equal characters in a row is accepted': {
    file: 'handlers/policy/passwords.ts',
    find: '/(.)\\1\\1/su',
    replace: '/(.)\\1\\1\\1/su',
    caughtBy: ['passwords.policy.triple-repeat'],
  },
  'a password that contains the username in another case is accepted': {
    file: 'handlers/policy/passwords.ts',
    find: 'folded.includes(nfkcCasefold(part))',
    replace: 'folded.includes(part)',
    caughtBy: ['passwords.policy.username'],
  },
};
