import t from 'tap';
import { checkContract, failuresIn } from '../support/contract-run.js';
import { startSecondService } from '../support/second-service.js';

/** Rules that the second service fulfills. */
const FULFILLED = [
  'accounts.register.success',
  'accounts.register.username-taken',
  'accounts.register.email-taken',
  'accounts.register.email-is-normalized',
  'accounts.register.body-required',
  'auth.login.success',
  'auth.login.fields',
  'auth.cookie.attributes',
  'auth.me.fields',
  'posts.create.fields',
  'posts.create.created-at',
  'posts.create.required-fields',
  'posts.get.fields',
  'posts.get.missing',
  'posts.delete.success',
  'posts.list.newest-first',
  'posts.list-own.own-posts',
  'likes.unlike.idempotent',
  'likes.like.missing-post',
  'posts.like-count.counts',
];

/** Rules that fail, each because of one violation of the contract by the second service. */
const GAPS = [
  'auth.login.email-is-normalized',
  'likes.like.idempotent',
  'posts.create.blank',
  'posts.create.author-id',
];

t.test('reports exactly the violations of another implementation', async (t) => {
  const selected = new Set([...FULFILLED, ...GAPS]);
  const { outcomes, left } = await checkContract(await startSecondService(t), { selects: (id) => selected.has(id) });
  const idsWith = (verdict: string) => outcomes.flatMap((each) => (each.verdict === verdict ? [each.id] : [])).sort();
  t.same(idsWith('failed'), GAPS.toSorted(), { failures: failuresIn(outcomes) });
  t.same(idsWith('passed'), FULFILLED.toSorted());
  t.same(left, []);
});
