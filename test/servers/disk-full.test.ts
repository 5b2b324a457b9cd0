import { readdir } from 'node:fs/promises';
import t from 'tap';
import { samples } from '../../scripts/contract-test/client/index.js';
import { expectConsistentStores } from '../support/consistency.js';
import { startTestService } from '../support/service.js';
import { freshStores, mountSmallDisk, needsServers, whyNotMountable } from '../support/stores.js';

// The embedded database would be on the same disk, and would not start on a small one.
const skip = needsServers.skip || whyNotMountable();

t.test('on a full disk returns 503 and stores nothing, and recovers once there is space', { skip }, async (t) => {
  const DATA_DIR = await mountSmallDisk(t, 3);
  const { S3_BUCKET, S3_ENDPOINT, ...environment } = await freshStores(t);
  const service = await startTestService(t, { ...environment, DATA_DIR });
  const { directory } = service.stores;
  const user = await service.createUser();
  const large = Buffer.concat([samples.png, Buffer.alloc(1024 * 1024)]);
  const upload = () =>
    user.send('POST', '/posts/create', {
      form: { title: 'T', text: 'T', image: new Blob([large], { type: 'image/png' }) },
    });

  const posts = [(await upload()).body, (await upload()).body];
  const refused = await upload();
  t.match(refused, { status: 503, body: { message: /^The disk of the service is full/ } });
  t.ok(refused.headers.get('retry-after'));
  t.equal((await user.send('GET', '/posts/me')).body.length, 2);
  t.same(await readdir(directory.uploads), []);
  const created = (await user.send('POST', '/posts/create', { form: { title: 'T', text: 'T' } })).status;
  t.equal(created, 201, 'a post without an image succeeds');
  for (const { image } of posts) t.ok((await user.send('GET', image)).bytes.equals(large));
  t.equal((await user.send('DELETE', `/posts/delete?id=${posts[0].id}`)).status, 200);
  await expectConsistentStores(t, service.stores);
  t.equal((await upload()).status, 201);
  await expectConsistentStores(t, service.stores);
});
