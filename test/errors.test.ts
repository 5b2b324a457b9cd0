import t from 'tap';
import type { FieldProblem } from '../handlers/errors.js';
import { startTestService } from './support/service.js';

// The contract tests check codes. These English texts name limits and types, which a client can show to its user.
t.test('messages name the limits of openapi.yaml, and the type of a file', async (t) => {
  const { send } = await (await startTestService(t)).createUser();
  const title = 'A title';
  const text = 'A text';
  const svg = new Blob(['<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>']);
  const password = 'Quiet-Harbor-28';
  for (const [method, path, options, expected] of [
    ['POST', '/posts/create', { form: { title: 'x'.repeat(201), text } }, 'title must have at most 200 characters'],
    [
      'POST',
      '/posts/create',
      { form: { title, text, image: new Blob(['%PDF-1.7']) } },
      'image must be a JPEG, PNG, GIF, WebP or AVIF image, not PDF',
    ],
    [
      'POST',
      '/posts/create',
      { form: { title, text, image: svg } },
      'image must be a JPEG, PNG, GIF, WebP or AVIF image, not SVG',
    ],
    ['PUT', '/profiles/me', { form: { password } }, 'current_password is required to change the password'],
    ['GET', '/posts?limit=0', {}, 'limit must be an integer between 1 and 100'],
  ] as const) {
    const { status, body } = await send(method, path, options);
    t.equal(status, 400);
    t.same(
      body.errors.map((problem: FieldProblem) => `${problem.field} ${problem.message}`),
      [expected],
    );
  }
});
