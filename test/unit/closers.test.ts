import t from 'tap';
import { Closers } from '../../db/support/closers.js';

/** Returns closers of three resources, of which the second cannot be closed, and the names of the closed ones in order. */
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

t.test('closes each resource once, in reverse order, even if closing one of them fails', async (t) => {
  const { closers, closed } = openThree();
  await t.rejects(closers.close(), { message: 'the second cannot be closed' });
  t.same(closed, ['third', 'second', 'first']);
  await closers.close();
  t.equal(closed.length, 3);
});

t.test('closeAfter rejects with the original error, not with an error of closing', async (t) => {
  const { closers, closed } = openThree();
  await t.rejects(closers.closeAfter(new Error('the fourth cannot be opened')), {
    message: 'the fourth cannot be opened',
  });
  t.same(closed, ['third', 'second', 'first']);
});
