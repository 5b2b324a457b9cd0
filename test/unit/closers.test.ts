import t from 'tap';
import { Closers } from '../../db/support/closers.js';

/**
 * Returns closers for three resources, and a list that receives the name of each resource when it is closed. Closing the
 * second resource fails.
 */
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

t.test('closeAfter rejects with the original error, not with an error from closing', async (t) => {
  const { closers, closed } = openThree();
  await t.rejects(closers.closeAfter(new Error('the fourth cannot be opened')), {
    message: 'the fourth cannot be opened',
  });
  t.same(closed, ['third', 'second', 'first']);
});
