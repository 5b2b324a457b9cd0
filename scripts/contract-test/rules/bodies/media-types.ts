import { type ContractOperation, methodAndPath, type RequestContent } from '../../client/index.js';
import { expectErrorShape, expectProblems, expectThat } from '../../expect.js';
import { bodyOfType, CHUNKED, contentType } from '../../fixtures.js';
import { rule } from '../../rule.js';
import { validRequest } from '../operations.js';
import { EMPTY_BODIES, FORM, getSender, isJson, withBody } from './requests.js';

/** Returns the fields that a 400 names when no field is sent. */
const absentFields = ({ requestBody }: ContractOperation) =>
  ((requestBody?.schema.required ?? ['']) as string[]).map((name) => `body.${name}`);

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'multipart/form-data; boundary=form';
const PART = '--form\r\nContent-Disposition: form-data; name="title"\r\n\r\nA title';

/** Media types and bodies for the operations that take JSON, or for those that take a form. */
interface Bodies {
  acceptedTypes: string[];
  rejectedTypes: string[];
  /** Has only the undocumented field `extra`. */
  withUnknownField: string | Uint8Array;
  malformed: RequestContent[];
}

const NOT_UTF8 = Buffer.from('{"a":"\xff"}', 'latin1');
const MALFORMED_JSON = ['{', ' ', '[]', '7', 'null', '"x"', '{"a":1}{', "{'a':1}", '\ufeff', NOT_UTF8];

const JSON_BODIES: Bodies = {
  acceptedTypes: [
    JSON_TYPE,
    'application/json; charset=utf-8',
    'application/json ;charset="UTF-8"',
    'Application/JSON',
  ],
  rejectedTypes: ['application/merge-patch+json', 'text/json', FORM_TYPE],
  withUnknownField: '{"extra":1}',
  malformed: MALFORMED_JSON.map((body) => bodyOfType(JSON_TYPE, body)),
};

const FORM_BODIES: Bodies = {
  acceptedTypes: [
    FORM_TYPE,
    'multipart/form-data; boundary="form"',
    'Multipart/Form-Data; charset=utf-8; boundary=form',
  ],
  rejectedTypes: ['multipart/mixed; boundary=form', 'application/xml', JSON_TYPE],
  withUnknownField: FORM.body,
  malformed: [
    bodyOfType('multipart/form-data', `${PART}\r\n--form--\r\n`),
    bodyOfType('multipart/form-data; boundary=other', `${PART}\r\n--form--\r\n`),
    // Cut in a field, in a header and before the closing boundary.
    bodyOfType(FORM_TYPE, PART),
    bodyOfType(FORM_TYPE, '--form\r\nContent-Dis'),
    bodyOfType(FORM_TYPE, `${PART}\r\n--form\r\n`),
    // A part without a name, and one that is no form field, beside valid ones.
    bodyOfType(FORM_TYPE, `${PART}\r\n--form\r\nContent-Type: text/plain\r\n\r\nx\r\n--form--\r\n`),
    bodyOfType(FORM_TYPE, '--form\r\nContent-Disposition: form-data\r\n\r\nx\r\n--form--\r\n'),
    bodyOfType(FORM_TYPE, '{}'),
  ],
};

/** The requests are invalid in other ways too: a request whose media type is wrongly accepted changes nothing. */
export const mediaTypeRules = withBody.map((operation) =>
  rule(
    `bodies.type.${operation.id}`,
    `${methodAndPath(operation)} compares the media type of the body ignoring case and parameters, and returns 415 for other types and for a Content-Encoding other than identity. A missing body returns 400 and names the required fields; a malformed body returns 400.`,
    async (users) => {
      const { send } = await getSender(users, operation);
      const request = validRequest(operation);
      const { acceptedTypes, rejectedTypes, withUnknownField, malformed } = isJson(operation)
        ? JSON_BODIES
        : FORM_BODIES;
      for (const type of acceptedTypes) {
        for (const framing of [{}, CHUNKED, { 'Content-Encoding': 'identity' }]) {
          const headers = { ...contentType(type), ...framing };
          const response = await send(400, request, { body: withUnknownField, headers });
          const isNamed = response.body.errors?.some(({ field }: { field: string }) => field === 'extra');
          expectThat(isNamed, 'the field extra named', response);
        }
      }
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', ';;', ...rejectedTypes])
        expectErrorShape(await send(415, request, bodyOfType(type, '{"title":"x"}')));
      expectErrorShape(await send(415, request, { body: 'hello' }));
      for (const framing of [{}, CHUNKED]) {
        const headers = { ...contentType(acceptedTypes[0] ?? ''), 'Content-Encoding': 'gzip', ...framing };
        expectErrorShape(await send(415, request, { body: withUnknownField, headers }));
      }

      const absent = absentFields(operation);
      for (const content of [{}, ...EMPTY_BODIES]) expectProblems(await send(400, request, content), ...absent);
      const withUnknownParameter = validRequest(operation, ['page=1']);
      const allInvalid = await send(400, withUnknownParameter, bodyOfType(acceptedTypes[0] ?? '', withUnknownField));
      expectProblems(allInvalid, 'query.page', 'body.extra', ...absent.filter((name) => name !== 'body.'));
      for (const content of malformed)
        expectProblems(await send(400, withUnknownParameter, content), 'body.', 'query.page');
      if (isJson(operation)) {
        const large = JSON.stringify({ extra: 'x'.repeat(64 * 1024) });
        await send(413, request, bodyOfType(JSON_TYPE, large));
      } else expectProblems(await send(400, request, bodyOfType(FORM_TYPE, '--form--\r\n')), ...absent);
    },
  ),
);
