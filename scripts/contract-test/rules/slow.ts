import { setTimeout as sleep } from 'node:timers/promises';
import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectThat } from '../expect.js';
import { rule, type Subject } from '../rule.js';

const median = (values: number[]) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/** A run leaves them out unless it is asked for slow rules. */
export const slow: Subject = {
  name: 'Slow rules',
  rules: [
    rule(
      'slow.sessions.last-used-at',
      'last_used_at of a session moves when the session is used, and lags by a minute at most. Sessions are listed last used first.',
      async (cast) => {
        const user = await cast.register();
        const other: string = (await cast.login(user)).body.token;
        const sessions = async (): Promise<{ answer: CheckedResponse; own: { id: string; last_used_at: string } }> => {
          const answer = await user.send(200, 'GET /auth/sessions');
          return { answer, own: answer.body.find(({ current }: { current: boolean }) => current) };
        };
        const before = (await sessions()).own;
        await sleep(62_000);
        await user.send(200, 'GET /auth/me');
        await sleep(500);
        const { answer, own } = await sessions();
        expectThat(Date.parse(own.last_used_at) > Date.parse(before.last_used_at), 'a later last_used_at', answer);
        expectThat(Date.now() - Date.parse(own.last_used_at) < 5 * 60_000, 'a last_used_at of now', answer);
        expectEqual(answer, 'the first session of the list', answer.body[0].id, own.id);
        await cast.anonymous.send(200, 'GET /auth/me', { token: other });
      },
      { slow: true },
    ),

    rule(
      'slow.login.timing',
      'A login with an unknown email, a malformed one and a wrong password take the same time.',
      async (cast) => {
        const { email } = await cast.register();
        const password = 'Wrong-Harbour_58';
        const emails = { known: email, unknown: cast.newUser().email, malformed: 'plain' };
        const times: Record<keyof typeof emails, number[]> = { known: [], unknown: [], malformed: [] };
        let answer: CheckedResponse | undefined;
        for (let count = 0; count < 12; count++) {
          for (const [kind, address] of Object.entries(emails) as [keyof typeof emails, string][]) {
            const began = performance.now();
            answer = await cast.anonymous.send(401, 'POST /auth/login', { json: { email: address, password } });
            times[kind].push(performance.now() - began);
          }
        }
        const known = median(times.known);
        for (const kind of ['unknown', 'malformed'] as const) {
          const ratio = median(times[kind]) / known;
          expectThat(
            ratio > 0.6 && ratio < 1.6,
            `${kind} emails to take as long as known ones, not ${ratio.toFixed(2)} of it`,
            answer,
          );
        }
      },
      { slow: true },
    ),
  ],
};
