import t from 'tap';
import { operationsOf, resolveReferences } from '../../scripts/generate/document.js';

const operation = { operationId: 'listFriends', tags: ['friends'], 'x-rate-limit': 'general', responses: {} };
const operations = (paths: object) => operationsOf(resolveReferences({ paths }));

t.test('mistakes in the contract are named in a sentence', async (t) => {
  t.match(operations({ '/friends': { get: operation } }), [{ id: 'listFriends' }]);
  for (const [paths, message] of [
    [{ '/a': { get: operation }, '/b': { get: operation } }, 'Two operations have the operationId listFriends'],
    [{ '/a': { get: { ...operation, 'x-rate-limit': 'none' } } }, /^listFriends: x-rate-limit must be one of /],
    [{ '/a': { $ref: '#/components/a' } }, '$ref: #/components/a does not exist in the document'],
  ] as const)
    t.throws(() => operations(paths), { code: 'command_error', message });
  t.throws(() => operationsOf(resolveReferences(null)), { code: 'command_error' }, 'an empty document');
});
