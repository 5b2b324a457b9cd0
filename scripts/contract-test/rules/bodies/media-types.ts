import { type ContractOperation, methodAndPath } from '../../document.js';
import type { RequestOptions } from '../../exchange.js';
import { expectErrorShape, expectProblems, expectThat } from '../../expect.js';
import { CHUNKED, contentType } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { validRequest } from '../operations.js';
import { EMPTY_BODIES, FORM, getSender, isJson, withBody } from './requests.js';

/** Returns the fields that a 400 names when no field is sent. */
const absentFields = ({ requestBody }: ContractOperation) =>
  ((requestBody?.schema.required ?? ['']) as string[]).map((name) => `body.${name}`);

const FORM_TYPE = 'multipart/form-data; boundary=form';
const PART = '--form\r\nContent-Disposition: form-data; name="title"\r\n\r\nA title';

const MALFORMED_FORMS: [type: string, body: string][] = [
  ['multipart/form-data', `${PART}\r\n--form--\r\n`],
  ['multipart/form-data; boundary=other', `${PART}\r\n--form--\r\n`],
  // Cut in a field, in a header and before the closing boundary.
  [FORM_TYPE, PART],
  [FORM_TYPE, '--form\r\nContent-Dis'],
  [FORM_TYPE, `${PART}\r\n--form\r\n`],
  // A part without a name.
  [FORM_TYPE, '--form\r\nContent-Type: text/plain\r\n\r\nx\r\n--form--\r\n'],
  [FORM_TYPE, '{}'],
];

/** The requests are invalid in other ways too, so that a media type that is wrongly accepted changes nothing. */
export const mediaTypeRules = withBody.map((operation) =>
  rule(
    `bodies.type.${operation.id}`,
    `${methodAndPath(operation)} compares the media type of the body ignoring case and parameters, and returns 415 for other types. A missing body returns 400 and names the required fields; a malformed body returns 400.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const request = validRequest(operation);
      const accepted = isJson(operation)
        ? [
            'application/json',
            'application/json; charset=utf-8',
            'application/json ;charset="UTF-8"',
            'Application/JSON',
          ]
        : [FORM_TYPE, 'multipart/form-data; boundary="form"', 'Multipart/Form-Data; charset=utf-8; boundary=form'];
      for (const value of accepted) {
        for (const framing of [{}, CHUNKED]) {
          const body = isJson(operation) ? '{"extra":1}' : (FORM.body as Uint8Array);
          const response = await send([400, 415], request, { body, headers: { ...contentType(value), ...framing } });
          expectThat(response.status === 400, `a body of type ${value} to be read`, response);
          expectThat(
            response.body.errors?.some(({ field }: { field: string }) => field === 'extra'),
            'the field extra named',
            response,
          );
        }
      }
      const rejected = [
        'text/plain',
        'application/x-www-form-urlencoded',
        ';;',
        ...(isJson(operation)
          ? ['application/merge-patch+json', 'text/json', FORM_TYPE]
          : ['multipart/mixed; boundary=form', 'application/xml', 'application/json']),
      ];
      for (const value of rejected) {
        expectErrorShape(await send(415, request, { body: '{"title":"x"}', headers: contentType(value) }));
      }
      expectErrorShape(await send(415, request, { body: 'hello' }));
      for (const sent of [{}, ...EMPTY_BODIES])
        expectProblems(await send(400, request, sent), ...absentFields(operation));
      const allInvalid = validRequest(operation, ['page=1']);
      expectProblems(
        await send(400, allInvalid, isJson(operation) ? { json: { extra: 1 } } : FORM),
        ...['query.page', 'body.extra', ...absentFields(operation).filter((name) => name !== 'body.')],
      );
      if (!isJson(operation)) {
        const form = (type: string, body: string): RequestOptions => ({ body, headers: contentType(type) });
        expectProblems(await send(400, request, form(FORM_TYPE, '--form--\r\n')), ...absentFields(operation));
        for (const malformed of MALFORMED_FORMS) {
          expectProblems(await send(400, allInvalid, form(...malformed)), 'body.', 'query.page');
        }
      } else {
        const notUtf8 = Buffer.from('{"a":"\xff"}', 'latin1');
        for (const body of ['{', '[]', '7', 'null', '"x"', '{"a":1}{', "{'a':1}", '\ufeff', notUtf8]) {
          expectProblems(await send(400, request, { body, headers: contentType('application/json') }), 'body.');
        }
        const large = JSON.stringify({ extra: 'x'.repeat(64 * 1024) });
        await send(413, request, { body: large, headers: contentType('application/json') });
      }
    },
  ),
);
