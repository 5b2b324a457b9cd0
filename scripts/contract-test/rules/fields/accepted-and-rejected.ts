import type { CheckedResponse } from '../../exchange.js';
import { expectEqual, expectThat } from '../../expect.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { ENDPOINTS, type Endpoint, type Sample, type ValidResult } from './endpoints.js';
import { FIELDS, type Field } from './values.js';

const namesField = ({ body }: CheckedResponse, field: string) =>
  (body?.errors ?? []).some(
    (problem: { in: string; field: string }) => problem.in === 'body' && problem.field === field,
  );

/** Returns whether the response rejects this field, or fails without listing errors. */
const rejects = (response: CheckedResponse, field: string) =>
  response.status >= 400 && (namesField(response, field) || !response.body?.errors);

/** Returns how many requests send all invalid values. Each has one for every field, because a 400 names all invalid fields. */
const maxInvalidCount = (fields: readonly Field[]) => Math.max(...fields.map((field) => FIELDS[field].invalid.length));

/** Sends all invalid values of an endpoint, one request per index. Fields with fewer values repeat them. */
const invalidResponses = (users: TestUsers, endpoint: Endpoint) =>
  users.shared(`invalid values of ${endpoint.id}`, () =>
    Promise.all(
      Array.from({ length: maxInvalidCount(endpoint.fields) }, (_, index) => endpoint.sendInvalid(users, index)),
    ),
  );

/** Sends all valid values of an endpoint, one request per index. */
const validResults = (users: TestUsers, endpoint: Endpoint) =>
  users.shared(`valid values of ${endpoint.id}`, async () => {
    const values = endpoint.fields.map((field) => {
      const count = FIELDS[field].valid(() => '0123456789ab').length;
      return Array.from({ length: count }, (_, index): Sample => {
        // All calls return the same text, because a value may contain it several times.
        const [, ...digits] = users.newUser().username.split('-');
        const unique = digits.join('');
        const value = FIELDS[field].valid(() => unique)[index] ?? '';
        const [sent, stored] = typeof value === 'string' ? [value, value] : value;
        return { field, sent, expected: stored === '' ? sent.trim() : stored };
      });
    });
    const count = Math.max(...values.map(({ length }) => length));
    const sets = Array.from({ length: count }, (_, index) => values.flatMap((samples) => samples[index] ?? []));
    if (endpoint.creates) return Promise.all(sets.map((samples) => endpoint.sendValid(users, samples)));
    const accepted: ValidResult[] = [];
    for (const samples of sets) accepted.push(await endpoint.sendValid(users, samples));
    return accepted;
  });

const quote = (value: string) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}… (${[...value].length} characters)` : text;
};

const FIELD_DESCRIPTIONS: Record<Field, string> = {
  name: 'A name has 1 to 100 characters, counted in code points, and is not blank',
  title: 'A title has 1 to 200 characters, counted in code points, and is not blank',
  text: 'A text has 1 to 10,000 characters, counted in code points, and is not blank',
  username:
    'A username has 1 to 50 characters, counted in code points, and contains no whitespace, control, format, ignorable or blank characters',
  email:
    'An email, trimmed and lowercased, has 1 to 254 ASCII characters, one @ and a dot in the domain. It has no quoted part, no address literal and no disposable domain',
  password:
    'A password has 12 to 128 characters, counted in code points, with a lowercase letter, an uppercase letter, a digit and a special character. It contains no character three times in a row and no obvious sequence, and is not common',
};

export const valueRules = ENDPOINTS.flatMap((endpoint) =>
  endpoint.fields.flatMap((field) => [
    rule(
      `fields.${field}.refused.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} returns 400 for any other value and names the field.`,
      async (users) => {
        const responses = await invalidResponses(users, endpoint);
        for (const [index, response] of responses.entries()) {
          const value = FIELDS[field].invalid[index % FIELDS[field].invalid.length] ?? '';
          expectThat(
            response.status === 400 && namesField(response, field),
            `400 naming ${field} for ${quote(value)}`,
            response,
          );
        }
      },
    ),

    rule(
      `fields.${field}.accepted.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} accepts such values and stores them ${field === 'email' ? 'trimmed and lowercased' : 'verbatim'}.`,
      async (users) => {
        for (const { samples, response, stored, readResponse } of await validResults(users, endpoint)) {
          const sample = samples.find((one) => one.field === field);
          if (!sample) continue;
          expectThat(!rejects(response, field), `${quote(sample.sent)} accepted`, response);
          if (response.status >= 400) continue;
          expectEqual(readResponse, `${field}, as stored`, stored[field], sample.expected);
        }
      },
    ),
  ]),
);
