import type { CheckedResponse } from '../../client/index.js';
import { expectEqual, expectThat } from '../../expect.js';
import { rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';
import { ENDPOINTS, type Endpoint, namesField, type ValidResult } from './endpoints.js';
import { FIELDS, type Field } from './values.js';

/** Returns whether the response rejects this field, or fails without listing errors. */
const rejects = (response: CheckedResponse, field: string) =>
  response.status >= 400 && (namesField(response, field) || !response.body?.errors);

/** Returns the invalid value of a field at an index. The values repeat beyond the last one. */
const invalidValue = (field: Field, index: number): string =>
  FIELDS[field].invalid[index % FIELDS[field].invalid.length] ?? '';

/** Sends all invalid values of an endpoint. Each request has one for every field, because a 400 names all invalid fields. */
const invalidResponses = (users: TestUsers, { id, fields, sendInvalid }: Endpoint) =>
  users.shared(`invalid values of ${id}`, () => {
    const count = Math.max(...fields.map((field) => FIELDS[field].invalid.length));
    const requests = Array.from({ length: count }, (_, index) =>
      Object.fromEntries(fields.map((field) => [field, invalidValue(field, index)])),
    );
    return Promise.all(requests.map((values) => sendInvalid(users, values)));
  });

/** Returns the valid values of a field, made unique where they must be. */
function validValues(users: TestUsers, field: Field): string[] {
  const [, ...digits] = users.newUser().username.split('-');
  return FIELDS[field].valid(digits.join(''));
}

/** Sends all valid values of an endpoint. The first requests have one for every field, later ones for fields with more values. */
const validExchanges = (users: TestUsers, { id, fields, creates, sendValid }: Endpoint) =>
  users.shared(`valid values of ${id}`, async () => {
    const count = Math.max(...fields.map((field) => validValues(users, field).length));
    const requests = Array.from({ length: count }, (_, index) => {
      const values: Record<string, string> = {};
      for (const field of fields) {
        const value = validValues(users, field)[index];
        if (value !== undefined) values[field] = value;
      }
      return values;
    });
    const send = async (sent: Record<string, string>) => ({ sent, ...(await sendValid(users, sent)) });
    if (creates) return Promise.all(requests.map(send));
    const exchanges: (ValidResult & { sent: Record<string, string> })[] = [];
    for (const sent of requests) exchanges.push(await send(sent));
    return exchanges;
  });

const quote = (value: string) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${[...text].slice(0, 40).join('')}… (${[...value].length} characters)` : text;
};

const FIELD_DESCRIPTIONS: Record<Field, string> = {
  name: 'A name has 1 to 100 characters, counted in code points, shows at least one, and contains no U+FFFD',
  title: 'A title has 1 to 200 characters, counted in code points, shows at least one, and contains no U+FFFD',
  text: 'A text has 1 to 10,000 characters, counted in code points, shows at least one, and contains no U+FFFD',
  username:
    'A username has 1 to 50 characters, counted in code points, and contains no whitespace, control, format, ignorable or blank characters and no U+FFFD',
  email:
    'An email, trimmed and lowercased, has 1 to 254 ASCII characters, one @ and a dot in the domain. It has no quoted part, no address literal and no disposable domain',
  password:
    'A password has 12 to 128 characters, counted in code points, with a lowercase letter, an uppercase letter, a digit and a special character. It contains no character three times in a row, no obvious sequence and no U+FFFD, and is not common',
};

/** Describes how an accepted value is stored. Passwords are stored only as hashes. */
const storedAs = (field: Field) =>
  field === 'password' ? '' : ` and stores them ${field === 'email' ? 'trimmed and lowercased' : 'verbatim'}`;

export const valueRules = ENDPOINTS.flatMap((endpoint) =>
  endpoint.fields.flatMap((field) => [
    rule(
      `fields.${field}.refused.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} returns 400 for any other value and names the field.`,
      async (users) => {
        const responses = await invalidResponses(users, endpoint);
        for (const [index, response] of responses.entries()) {
          const expected = `400 naming ${field} for ${quote(invalidValue(field, index))}`;
          expectThat(response.status === 400 && namesField(response, field), expected, response);
        }
      },
    ),

    rule(
      `fields.${field}.accepted.${endpoint.id}`,
      `${FIELD_DESCRIPTIONS[field]}. ${endpoint.title} accepts such values${storedAs(field)}.`,
      async (users) => {
        for (const { sent, response, stored, readResponse } of await validExchanges(users, endpoint)) {
          const value = sent[field];
          if (value === undefined) continue;
          expectThat(!rejects(response, field), `${quote(value)} accepted`, response);
          if (response.status >= 400) continue;
          const expected = field === 'email' ? value.trim().toLowerCase() : value;
          expectEqual(readResponse, `${field}, as stored`, stored[field], expected);
        }
      },
    ),
  ]),
);
