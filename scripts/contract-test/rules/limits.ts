import { setTimeout as sleep } from 'node:timers/promises';
import { type ContractOperation, contract } from '../document.js';
import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectErrorShape, expectThat, SkippedError } from '../expect.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers } from '../users.js';
import { sound } from './operations.js';

const nameOf = ({ method, path }: ContractOperation) => `${method} ${path}`;

/** Using up more than this, or waiting longer, would burden a service that is not meant for tests. */
const MAX_REQUESTS = { strict: 100, general: 2000 };
const MAX_WINDOW_SECONDS = 20;

/** A service may slow down a client that goes on beyond its limit. */
const MAX_REFUSED = 4;

interface Standing {
  limit: number;
  remaining: number;
  reset: number;
}

function standingOf(answer: CheckedResponse): Standing {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(answer.headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number];
  expectThat(
    [limit, remaining, reset].every((value) => Number.isInteger(value) && value >= 0),
    'X-RateLimit-Limit, -Remaining and -Reset as integers',
    answer,
  );
  return { limit, remaining, reset };
}

/** A request that is refused, and counts all the same. */
const refused = (cast: TestUsers, operation: ContractOperation, sent: RequestOptions = {}) => {
  const wanted = operation.secured ? [401, 429] : [400, 429];
  return cast.anonymous.send(wanted, sound(operation), {
    ...(operation.rateLimit === 'strict' && { json: {} }),
    ...sent,
  });
};

const byId = (id: string) => contract.find((operation) => operation.id === id) as ContractOperation;

/** Whether the second response counts in the same window as the first, or a new one has begun. */
const newWindow = (before: Standing, after: Standing) =>
  after.reset > before.reset || after.remaining > before.remaining;

/** Uses up a bucket from the begin of a window, and returns how many requests have passed, and the one that did not. */
async function useUp(send: () => Promise<CheckedResponse>): Promise<{ passed: number; refusal: CheckedResponse }> {
  for (let attempt = 1; ; attempt++) {
    // The first request of a new window tells when it ends.
    let answer = await send();
    await sleep((standingOf(answer).reset + 0.2) * 1000);
    answer = await send();
    const begin = standingOf(answer);
    let passed = 0;
    let last = begin;
    while (answer.status !== 429 && passed <= begin.limit) {
      passed += 1;
      answer = await send();
      if (newWindow(last, standingOf(answer))) break;
      last = standingOf(answer);
    }
    if (answer.status === 429 || attempt === 3 || passed > begin.limit) return { passed, refusal: answer };
  }
}

/** What is no operation's counts in the general bucket, too. */
const ALSO_REFUSED: [wanted: number, request: string][] = [
  [404, 'GET /no-such-path'],
  [405, 'PATCH /posts'],
  [400, 'GET /%ff'],
  [204, 'OPTIONS /posts'],
];

/** What counts in no bucket. */
const UNLIMITED: [wanted: number, request: string, headers: Record<string, string>][] = [
  [200, 'GET /docs', {}],
  [200, 'GET /openapi.yaml', {}],
  [200, 'GET /openapi.json', {}],
  [204, 'OPTIONS /posts/create', { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' }],
];

const exceeds = (bucket: 'strict' | 'general', probe: string) =>
  rule(
    `limits.exceeded.${bucket}`,
    `As many requests as X-RateLimit-Limit says pass in a window. The next one is 429 with Retry-After, whichever operation of the ${bucket} bucket it is; the other bucket is not concerned.`,
    async (cast) => {
      const send = () => refused(cast, byId(probe), { takesRefusal: true });
      const { limit, reset } = standingOf(await send());
      if (limit > MAX_REQUESTS[bucket])
        throw new SkippedError(`the ${bucket} limit of ${limit} is too high to be used up`);
      if (reset > MAX_WINDOW_SECONDS) throw new SkippedError(`the window of ${reset} s is too long to be waited for`);
      const { passed, refusal } = await useUp(send);
      expectThat(refusal.status === 429, `429 after ${limit} requests`, refusal);
      expectEqual(refusal, 'how many requests passed', passed, limit);
      const operations = contract.filter(({ rateLimit }) => rateLimit === bucket);
      const step = Math.ceil(operations.length / MAX_REFUSED);
      const answers = [refusal];
      for (const operation of operations.filter((_, index) => index % step === 0)) {
        answers.push(await refused(cast, operation, { takesRefusal: true }));
      }
      if (bucket === 'general') {
        for (const [wanted, request] of ALSO_REFUSED) {
          answers.push(await cast.anonymous.send([wanted, 429], request, { takesRefusal: true }));
        }
        for (const [wanted, request, headers] of UNLIMITED) {
          const free = await cast.anonymous.send(wanted, request, { headers, takesRefusal: true });
          expectThat(!free.headers.has('x-ratelimit-limit'), 'no rate limit', free);
        }
      }
      for (const answer of answers) {
        // A new window may begin meanwhile.
        if (answer.status !== 429 && standingOf(answer).remaining > 0) continue;
        expectThat(answer.status === 429, '429', answer);
        expectErrorShape(answer);
        const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
        expectThat(
          Number.isInteger(seconds) && seconds > 0 && seconds <= reset + 900,
          'Retry-After in seconds',
          answer,
        );
        expectEqual(answer, 'X-RateLimit-Remaining', standingOf(answer).remaining, 0);
      }
      const other = bucket === 'strict' ? 'getCurrentAccount' : 'login';
      const apart = await refused(cast, byId(other));
      expectThat(apart.status !== 429, 'the other bucket to go on', apart);
    },
  );

/** Every operation, and what is none: each counts once in its bucket. */
const COUNTED: [
  id: string,
  says: string,
  bucket: 'strict' | 'general',
  send: (cast: TestUsers) => Promise<CheckedResponse>,
][] = [
  ...contract.map(
    (operation) =>
      [operation.id, nameOf(operation), operation.rateLimit, (cast: TestUsers) => refused(cast, operation)] as const,
  ),
  ['unknown-path', 'an unknown path', 'general', (cast: TestUsers) => cast.anonymous.send(404, 'GET /no-such-path')],
  [
    'method',
    'a method that a path does not support',
    'general',
    (cast: TestUsers) => cast.anonymous.send(405, 'PATCH /posts'),
  ],
  ['head', 'HEAD', 'general', (cast: TestUsers) => cast.anonymous.send(401, 'HEAD /posts')],
  ['options', 'OPTIONS', 'general', (cast: TestUsers) => cast.anonymous.send(204, 'OPTIONS /posts')],
  ['url', 'a URL that cannot be decoded', 'general', (cast: TestUsers) => cast.anonymous.send(400, 'GET /%ff')],
  [
    'method-of-strict',
    'a method that the path of a strict operation does not support',
    'general',
    (cast: TestUsers) => cast.anonymous.send(405, 'GET /auth/login'),
  ],
].map((row) => row as unknown as (typeof COUNTED)[number]);

const countRules = COUNTED.map(([id, says, bucket, send]) =>
  rule(
    `limits.counted.${id}`,
    `Every request counts once in its bucket, also when it is refused: ${says} in the ${bucket} bucket.`,
    async (cast) => {
      const probe = byId(bucket === 'strict' ? 'login' : 'getCurrentAccount');
      for (let attempt = 1; ; attempt++) {
        const before = standingOf(await refused(cast, probe));
        const answer = await send(cast);
        // Must not count in the strict bucket.
        if (bucket === 'strict') await refused(cast, byId('getCurrentAccount'));
        const after = standingOf(await refused(cast, probe));
        const own = standingOf(answer);
        expectEqual(answer, 'X-RateLimit-Limit, as for other operations of the bucket', own.limit, before.limit);
        const counted = [before.remaining - own.remaining, own.remaining - after.remaining];
        const exact = counted.every((difference) => difference === 1);
        // A new window may begin, and other clients of the same address count, too.
        if (!exact && attempt < 8) continue;
        expectThat(exact, 'X-RateLimit-Remaining to fall by one', answer);
        expectThat(after.reset <= before.reset, 'X-RateLimit-Reset not to rise within a window', answer);
        return;
      }
    },
  ),
);

const FORGED = ['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'True-Client-IP', 'X-Client-IP'];

/** They count requests one by one, so nothing else may be sent meanwhile. */
export const limits: Subject = {
  name: 'Rate limits',
  rules: [
    ...countRules,

    rule(
      'limits.reset',
      'X-RateLimit-Reset is the number of seconds until the window ends: it falls as time passes.',
      async (cast) => {
        for (let attempt = 1; ; attempt++) {
          const first = await refused(cast, byId('getCurrentAccount'));
          await sleep(2100);
          const second = await refused(cast, byId('getCurrentAccount'));
          const [before, after] = [standingOf(first), standingOf(second)];
          if (before.reset <= 3 && attempt < 5) {
            await sleep((before.reset + 0.2) * 1000);
            continue;
          }
          const passed = before.reset - after.reset;
          expectThat(
            passed >= 1 && passed <= 4,
            `X-RateLimit-Reset to fall from ${before.reset} by the 2 s that have passed`,
            second,
          );
          return;
        }
      },
    ),

    rule(
      'limits.forged',
      `A client cannot open a bucket of its own with ${FORGED.join(', ')}: only proxies that the operator trusts are believed.`,
      async (cast) => {
        for (const name of FORGED) {
          for (let attempt = 1; ; attempt++) {
            const before = standingOf(await refused(cast, byId('getCurrentAccount')));
            const address = `203.0.113.${attempt}`;
            const headers = { [name]: name === 'Forwarded' ? `for=${address}` : address };
            const answer = await refused(cast, byId('getCurrentAccount'), { headers });
            const after = standingOf(answer);
            // A new window has all of its requests, but its end is later, too.
            if (after.remaining >= before.remaining && after.reset > before.reset && attempt < 3) continue;
            expectThat(after.remaining === before.remaining - 1, `${name} not to open a bucket`, answer);
            break;
          }
        }
      },
    ),

    exceeds('strict', 'login'),
    exceeds('general', 'getCurrentAccount'),
  ],
};
