import type { Answer } from '../client.js';
import { contract } from '../document.js';
import { errorShape, rule, Skipped, type Subject, same, want } from '../rule.js';
import { sound } from './operations.js';

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
/** Using up more than this would burden a service that is not meant for tests. */
const MANY = 60;
const WINDOWS = 5;

const told = ({ headers }: Answer) =>
  HEADERS.map((name) => Number(headers.get(name) ?? Number.NaN)) as [number, number, number];

function wantHeaders(answer: Answer): void {
  want(
    told(answer).every((value) => Number.isInteger(value) && value >= 0),
    'X-RateLimit-Limit, -Remaining and -Reset',
    answer,
  );
}

export const limits: Subject = {
  name: 'Rate limits',
  rules: [
    rule(
      'Rules, rate limits',
      'Every answer carries X-RateLimit-Limit, -Remaining, -Reset: refused ones too',
      async (cast) => {
        const { ask } = await cast.person('ada');
        wantHeaders(await ask(200, 'GET /auth/me'));
        wantHeaders(await ask(400, 'GET /posts?limit=0'));
        wantHeaders(await ask(404, 'GET /posts/9007199254740991'));
        for (const [status, request] of [
          [401, 'GET /posts'],
          [404, 'GET /none'],
          [405, 'PATCH /posts'],
        ] as const) {
          wantHeaders(await cast.nobody.ask(status, request));
        }
      },
    ),

    rule('Rules, rate limits', 'unauthenticated, unknown and refused requests count too', async (cast) => {
      for (const [status, request] of [
        [401, 'GET /posts'],
        [404, 'GET /none'],
        [405, 'PATCH /posts'],
      ] as const) {
        const [before, after] = [await cast.nobody.ask(401, 'GET /auth/me'), await cast.nobody.ask(status, request)];
        const [[, left, reset], [, less, next]] = [told(before), told(after)];
        want(less < left || next > reset, 'one request less that remains', after);
      }
    }),

    rule(
      'Rules, rate limits',
      'two buckets: one for the three strict routes together, one for all others',
      async (cast) => {
        const strict = contract.filter(({ rateLimit }) => rateLimit === 'strict');
        same(
          await cast.nobody.ask(404, 'GET /none'),
          'the strict routes',
          strict.map(({ id }) => id),
          ['register', 'login', 'deleteAccount'],
        );
        let last: Answer | undefined;
        for (const operation of strict) {
          for (let count = 0; count < 2; count++) await cast.nobody.ask(401, 'GET /auth/me');
          const answer = await cast.nobody.ask(operation.secured ? 401 : 400, sound(operation), { json: { none: 1 } });
          if (last) {
            const [[, left, reset], [, less, next]] = [told(last), told(answer)];
            want(left - less === 1 || next > reset, 'exactly one strict request less that remains', answer);
          }
          last = answer;
        }
      },
    ),

    rule('Limits', 'Exceeding a rate limit returns 429, with Retry-After; the other bucket goes on', async (cast) => {
      const login = () => cast.nobody.ask([400, 429], 'POST /auth/login', { json: {}, takesRefusal: true });
      let answer = await login();
      const [limit] = told(answer);
      if (!(limit <= MANY)) throw new Skipped(`the strict limit of ${limit} is too high to be used up`);
      for (let count = 0; answer.status !== 429 && count < limit * WINDOWS; count++) answer = await login();
      want(answer.status === 429, '429 for a request too many', answer);
      want(Number(answer.headers.get('retry-after')) > 0, 'a Retry-After', answer);
      wantHeaders(errorShape(answer));
      await cast.nobody.ask(401, 'GET /auth/me');
    }),
  ],
};
