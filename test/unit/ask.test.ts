import { PassThrough } from 'node:stream';
import t from 'tap';
import { askYes } from '../../scripts/support/ask.js';

t.test('only a yes is a yes: neither another answer, nor Ctrl-C, nor Ctrl-D', async (t) => {
  for (const [typed, expected] of [
    ['y\r', true],
    ['YES\r', true],
    ['n\r', false],
    ['\r', false],
    ['\u0003', false],
    ['\u0004', false],
  ] as const) {
    const input = new PassThrough();
    const output = Object.assign(new PassThrough(), { isTTY: true });
    const answer = askYes('Delete it?', { input, output });
    input.write(typed);
    t.equal(await answer, expected, JSON.stringify(typed));
    t.match(String(output.read()), 'Delete it? [y/N] ');
  }
});
