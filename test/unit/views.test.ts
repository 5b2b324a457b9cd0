import t from 'tap';
import { serializeList } from '../../handlers/http/operations.js';
import { postView } from '../../handlers/views.js';

const POST = {
  id: 1,
  title: 'Title',
  text: 'Text',
  image: null,
  author_id: 2,
  author_username: 'ada',
  created_at: '2026-01-02T03:04:05.678Z',
};

t.test('views of one row share their JSON only if their likes are the same', async (t) => {
  const calls: unknown[] = [];
  const serialize = (view: unknown) => {
    calls.push(view);
    return JSON.stringify(view);
  };
  const row = { ...POST };
  const likes = [
    { count: 0, liked: false },
    { count: 1, liked: false },
    { count: 1, liked: true },
    { count: 1, liked: false },
    { count: 2, liked: true },
  ];
  for (const { count, liked } of likes) {
    const [view] = JSON.parse(serializeList([postView(row, { count, liked })], serialize));
    t.same(view, { ...POST, like_count: count, liked_by_me: liked });
  }
  t.equal(calls.length, 4, 'a view with the same likes as an earlier one is not serialized again');
  t.equal(serializeList([], serialize), '[]');
  t.equal(
    serializeList([{}, {}], () => '{}'),
    '[{},{}]',
  );
});
