import { setTimeout as sleep } from 'node:timers/promises';
import { type CheckedResponse, claimsOf, formatDuration } from '../client/index.js';
import { expectCode, expectCurrentTime, expectEqual, expectThat, SkippedError } from '../expect.js';
import { idsOf, WRONG_PASSWORD } from '../fixtures.js';
import { type Rule, rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';
import { startSession } from './session.js';

/** The default maxima. The rules also pass with lower maxima (of at least three sessions), but fail with higher ones. */
const MAX_SESSIONS = 100;
const MAX_FAILED_PASSWORDS = 100;

const MAX_WAIT_MS = 15 * 60_000;

/** Throws a SkippedError if the rate limit in the headers of a login makes this many logins take too long. */
function requireRateFor(logins: number, { headers }: CheckedResponse): void {
  const [, quota, windowSeconds] = /;q=(\d+);w=(\d+)$/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  const waitMs = Math.floor(logins / Number(quota)) * Number(windowSeconds) * 1000;
  if (waitMs > MAX_WAIT_MS)
    throw new SkippedError(`${logins} logins would wait ${formatDuration(waitMs)} for the rate limit`);
}

const lastUsedAt = (sessionId: string, { body }: CheckedResponse): string =>
  body.find(({ id }: { id: string }) => id === sessionId)?.last_used_at;

/**
 * Returns a user with three sessions: `used`, which was used again after a minute, `unused`, which was not, and `observer`,
 * which read the list of sessions before and after that use.
 */
const accountWithUsedSession = (users: TestUsers) =>
  users.shared('account with a used session', async () => {
    const user = await users.register();
    const used = { id: claimsOf(user.token).jti as string, send: user.send };
    const unused = await startSession(users, user);
    // Another session reads the list, because reading updates last_used_at.
    const observer = await startSession(users, user);
    const list = () => observer.send(200, 'GET /auth/sessions');
    const before = await list();
    await sleep(62_000);
    await used.send(200, 'GET /auth/me');
    let after = await list();
    // A service may store last_used_at after it has responded.
    for (let attempt = 1; attempt < 20 && lastUsedAt(used.id, after) === lastUsedAt(used.id, before); attempt++) {
      await sleep(500);
      after = await list();
    }
    return { user, used, unused, observer, before, after };
  });

const slowRule = (id: string, sentence: string, check: Rule['check']) => rule(id, sentence, check, { slow: true });

export const slow: Subject = {
  name: 'Slow rules',
  rules: [
    slowRule(
      'slow.sessions.last-used-at',
      'last_used_at of a session is updated when the session is used, with a delay of at most a minute. Sessions are listed most recently used first.',
      async (users) => {
        const { used, unused, before, after: response } = await accountWithUsedSession(users);
        const time = lastUsedAt(used.id, response);
        expectThat(time > lastUsedAt(used.id, before), 'a later last_used_at', response);
        expectCurrentTime(response, 'last_used_at', time);
        const ids = idsOf<string>(response.body);
        const isBefore = ids.indexOf(used.id) < ids.indexOf(unused.id);
        expectThat(isBefore, 'the used session listed before the unused one', response);
      },
    ),

    slowRule(
      'slow.sessions.maximum',
      'An account has at most 100 sessions, unless the operator sets another limit. A login beyond the limit ends the least recently used session.',
      async (users) => {
        requireRateFor(MAX_SESSIONS, await users.login(await users.sharedUser('sam')));
        const { user, used, unused, observer } = await accountWithUsedSession(users);
        // The user has three sessions already.
        for (let logins = 4; logins < MAX_SESSIONS; logins++) await users.login(user);
        const newest = await startSession(users, user);
        const full = await newest.send(200, 'GET /auth/sessions');
        await users.login(user);
        const response = await newest.send(200, 'GET /auth/sessions');
        expectThat(response.body.length <= MAX_SESSIONS, `at most ${MAX_SESSIONS} sessions`, response);
        expectEqual(response, 'the number of sessions', response.body.length, full.body.length);
        await unused.send(401, 'GET /auth/me');
        // `used` is older than `unused`, but was used later.
        if (full.body.length === MAX_SESSIONS) for (const { send } of [used, observer]) await send(200, 'GET /auth/me');
      },
    ),

    slowRule(
      'slow.login.failed-passwords',
      'After 100 wrong passwords in an hour for an email address without an account, a login returns 429 too_many_failed_passwords with Retry-After, unless the operator sets another limit.',
      async (users) => {
        // No account has this email: its deletion at the end of the run would return 429 too.
        const json = { email: users.newUser().email, password: WRONG_PASSWORD };
        const logIn = () => users.anonymous.send([401, 429], 'POST /auth/login', { json });
        let response = await logIn();
        requireRateFor(MAX_FAILED_PASSWORDS, response);
        for (let failures = 1; failures <= MAX_FAILED_PASSWORDS && response.status === 401; failures++)
          response = await logIn();
        expectThat(response.status === 429, `429 after ${MAX_FAILED_PASSWORDS} wrong passwords`, response);
        expectCode(response, 'too_many_failed_passwords');
        const seconds = Number(response.headers.get('retry-after'));
        expectThat(seconds >= 1 && seconds <= 3600, 'a Retry-After of at most an hour', response);
      },
    ),

    slowRule(
      'slow.login.timing',
      'A failed login takes the same time for an unknown email, a malformed email and a wrong password.',
      async (users) => {
        const { email: known } = await users.register();
        const { email: unknown, username: malformed } = users.newUser();
        const emails = { known, unknown, malformed };
        // Other work on the machine only adds time, so the fastest responses are compared, with more requests if they differ.
        const fastestMs = { known: Infinity, unknown: Infinity, malformed: Infinity };
        const ratios = () => [fastestMs.unknown / fastestMs.known, fastestMs.malformed / fastestMs.known];
        const areSimilar = () => ratios().every((ratio) => ratio > 0.6 && ratio < 1.6);
        let response: CheckedResponse | undefined;
        for (let count = 0; count < 12 || (count < 60 && !areSimilar()); count++) {
          for (const [kind, address] of Object.entries(emails) as [keyof typeof emails, string][]) {
            const startedAt = performance.now();
            const json = { email: address, password: WRONG_PASSWORD };
            response = await users.anonymous.send(401, 'POST /auth/login', { json });
            fastestMs[kind] = Math.min(fastestMs[kind], performance.now() - startedAt);
          }
        }
        const times = ratios().map((ratio) => ratio.toFixed(2));
        expectThat(
          areSimilar(),
          `unknown and malformed emails to take as long as known ones, not ${times.join(' and ')} times as long`,
          response,
        );
      },
    ),
  ],
};
