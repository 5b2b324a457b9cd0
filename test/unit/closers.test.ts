import t from 'tap';
import { Closers } from '../../db/support/closers.js';

/** Returns closers of three things, of which the second cannot be closed, and the order in which they are closed. */
function openThree() {
  const closers = new Closers();
  const closed: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    closers.add(async () => {
      closed.push(name);
      if (name === 'second') throw new Error('the second cannot be closed');
    });
  }
  return { closers, closed };
}

t.test('everything is closed in reverse order, once, although closing something fails', async (t) => {
  const { closers, closed } = openThree();
  await t.rejects(closers.close(), { message: 'the second cannot be closed' });
  t.same(closed, ['third', 'second', 'first']);
  await closers.close();
  t.equal(closed.length, 3);
});

t.test('the error because of which everything is closed is not hidden', async (t) => {
  const { closers, closed } = openThree();
  await t.rejects(closers.closeAfter(new Error('the fourth cannot be opened')), {
    message: 'the fourth cannot be opened',
  });
  t.same(closed, ['third', 'second', 'first']);
});
