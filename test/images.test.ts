import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { storedImages } from './contents.js';
import { type Answer, befriend, type Person, problemsOf, startTestService, writePost } from './harness.js';

const service = await startTestService(t);
const { directory, images } = service.stores;

const kinds: [kind: keyof typeof samples, declared: string, served: string][] = [
  ['png', 'image/png', 'image/png'],
  ['jpeg', 'image/jpeg', 'image/jpeg'],
  ['jpeg', 'image/jpg', 'image/jpeg'],
  ['gif', 'image/gif', 'image/gif'],
  ['webp', 'image/webp', 'image/webp'],
  ['avif', 'image/avif', 'image/avif'],
  ['apng', 'image/apng', 'image/png'],
  ['gif', 'application/octet-stream', 'image/gif'],
];

const blob = (bytes: Uint8Array, type: string) => new Blob([bytes], { type });
const png = () => blob(samples.png, 'image/png');

/** Uploads an image to each of the two places that take one, and answers where it is served. */
const places: Record<string, (owner: Person, image: Blob) => Promise<string>> = {
  'a post’s image': async (owner, image) => String((await writePost(owner, { image })).image),
  'a profile picture': async (owner, image) =>
    String((await owner.ask('PUT', '/profiles/me', { form: { image } })).body.profile_link),
};

const serving = ({ headers }: Answer) => ({
  'content-type': headers.get('content-type'),
  'content-length': headers.get('content-length'),
  'x-content-type-options': headers.get('x-content-type-options'),
  'content-security-policy': headers.get('content-security-policy'),
  'cache-control': headers.get('cache-control'),
  etag: headers.get('etag'),
});

/** Says for each place that the rule holds there. */
function everywhere(
  rule: string,
  check: (t: Test, upload: (owner: Person, image: Blob) => Promise<string>) => unknown,
) {
  for (const [place, upload] of Object.entries(places)) t.test(`${place}: ${rule}`, (t) => check(t, upload));
}

everywhere('comes back byte for byte, as what its signature tells, and safe to show', async (t, upload) => {
  const [ada, bob] = [await service.person(), await service.person()];
  for (const [kind, declared, served] of kinds) {
    const path = await upload(ada, blob(samples[kind], declared));
    const what = `${kind} declared as ${declared}`;
    for (const person of [ada, bob]) {
      const answer = await person.ask('GET', path);
      t.equal(answer.status, 200, what);
      t.ok(answer.bytes.equals(samples[kind]), `${what}: the bytes`);
      const headers = serving(answer);
      t.strictSame(
        { ...headers, etag: undefined },
        {
          'content-type': served,
          'content-length': String(samples[kind].length),
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'private, no-cache',
          etag: undefined,
        },
        `${what}: the headers`,
      );
      t.match(headers.etag, /^"[^"]+"$/, `${what}: a strong tag`);
    }
  }
});

everywhere('metadata and whatever follows are not touched', async (t, upload) => {
  const ada = await service.person();
  const bytes = Buffer.concat([samples.jpeg, Buffer.from('<script>alert(1)</script>\0\r\n')]);
  const answer = await ada.ask('GET', await upload(ada, blob(bytes, 'image/jpeg')));
  t.ok(answer.bytes.equals(bytes));
  t.equal(answer.headers.get('content-type'), 'image/jpeg', 'and no bytes make it anything else');
});

everywhere('two images have two tags, one image has one', async (t, upload) => {
  const ada = await service.person();
  const tag = async (path: string) => (await ada.ask('GET', path)).headers.get('etag');
  const first = await upload(ada, png());
  const firstTag = await tag(first);
  t.equal(await tag(first), firstTag);
  t.not(await tag(await upload(ada, png())), firstTag);
});

everywhere('a copy at hand is good as long as its tag fits', async (t, upload) => {
  const ada = await service.person();
  const path = await upload(ada, png());
  const etag = String((await ada.ask('GET', path)).headers.get('etag'));
  const fitting = [etag, `W/${etag}`, `"x", ${etag}`, `W/"x",${etag} , "y"`, '*'];
  const others = ['"x"', etag.slice(1, -1), `W/"x"`, '', `${etag.slice(0, -1)}x"`, etag.toUpperCase()];
  for (const method of ['GET', 'HEAD']) {
    for (const tag of fitting) {
      const answer = await ada.ask(method, path, { headers: { 'If-None-Match': tag } });
      t.strictSame([answer.status, answer.bytes.length], [304, 0], `${method} ${tag}: nothing but that it is good`);
      t.strictSame(
        ['etag', 'cache-control', 'content-type', 'content-length'].map((name) => answer.headers.get(name)),
        [etag, 'private, no-cache', null, null],
      );
    }
    for (const tag of others) {
      const { status } = await ada.ask(method, path, { headers: { 'If-None-Match': tag } });
      t.equal(status, 200, `${method} ${tag || 'an empty tag'}: the image`);
    }
  }
});

everywhere('who may not see it gets 404, whatever they know of it', async (t, upload) => {
  const [ada, friend, stranger] = [await service.person(), await service.person(), await service.person()];
  await befriend(ada, friend);
  const path = await upload(ada, png());
  const etag = String((await stranger.ask('GET', path)).headers.get('etag'));
  await ada.ask('PUT', '/profiles/me', { form: { private: 'true' } });
  const missing = await stranger.ask('GET', path.replace(/[0-9a-f]{32}/, '0'.repeat(32)));
  const knowing: Record<string, Record<string, string>> = {
    nothing: {},
    'its tag': { 'If-None-Match': etag },
    'its weak tag': { 'If-None-Match': `W/${etag}` },
    'that there may be one': { 'If-None-Match': '*' },
    'its size': { Range: 'bytes=0-0' },
    'when it was made': { 'If-Modified-Since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    'its tag, the other way': { 'If-Match': etag },
  };
  for (const [what, headers] of Object.entries(knowing)) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await stranger.ask(method, path, { headers });
      t.equal(answer.status, 404, `${method} by a stranger who knows ${what}`);
      t.notOk(answer.headers.has('etag'));
      if (method === 'GET') t.strictSame(answer.body, missing.body, 'in the words for what is missing');
      for (const token of [undefined, 'x']) {
        const nobody = await service.ask(method, path, { headers, ...(token && { token }) });
        t.equal(nobody.status, 401, `${method} without credentials`);
      }
      for (const person of [ada, friend]) {
        const seen = await person.ask(method, path, { headers });
        t.equal(seen.status, headers['If-None-Match'] ? 304 : 200, `${method} by the owner and by a friend`);
      }
    }
  }
});

everywhere('HEAD is GET without the bytes', async (t, upload) => {
  const ada = await service.person();
  for (const [kind, declared] of kinds) {
    const path = await upload(ada, blob(samples[kind], declared));
    const [get, head] = [await ada.ask('GET', path), await ada.ask('HEAD', path)];
    t.equal(head.status, 200, declared);
    t.equal(head.bytes.length, 0);
    t.strictSame(serving(head), serving(get), `${declared}: the same headers`);
  }
});

everywhere('no part of it is served', async (t, upload) => {
  const ada = await service.person();
  const answer = await ada.ask('GET', await upload(ada, png()), { headers: { Range: 'bytes=0-3' } });
  t.equal(answer.status, 200);
  t.ok(answer.bytes.equals(samples.png), 'but all of it');
});

everywhere('no query and no body belongs to it', async (t, upload) => {
  const ada = await service.person();
  const path = await upload(ada, png());
  const query = await ada.ask('GET', `${path}?size=small`);
  t.strictSame([query.status, problemsOf(query)], [400, ['query.size']]);
  t.equal((await ada.ask('PUT', path)).status, 405);
  t.equal((await ada.ask('DELETE', path)).status, 405);
  t.equal((await ada.ask('GET', path)).status, 200);
});

everywhere('bytes that are lost are 404', async (t, upload) => {
  const ada = await service.person();
  const path = await upload(ada, png());
  const etag = String((await ada.ask('GET', path)).headers.get('etag'));
  await images.remove(String(path.split('/').at(-1)));
  t.equal((await ada.ask('GET', path)).status, 404);
  t.equal((await ada.ask('GET', path, { headers: { 'If-None-Match': etag } })).status, 404);
});

/** Sends a path as it stands: fetch would resolve its dots. */
function send(path: string, token: string): Promise<number> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers: { Authorization: `Bearer ${token}` } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

t.test('a name that is none of an image’s is 404, and leads out of nothing', async (t) => {
  const ada = await service.person();
  const served = { posts: String((await writePost(ada, { image: png() })).image), profiles: '' };
  served.profiles = await (places['a profile picture'] as (typeof places)[string])(ada, png());
  // Bytes that lie where images lie, and that no row names.
  const stray = `${'a'.repeat(32)}.png`;
  const upload = join(directory.uploads, stray);
  await writeFile(upload, samples.png);
  await images.put(stray, upload);
  t.ok((await storedImages(service.stores)).includes(stray));

  for (const [route, path] of Object.entries(served)) {
    const name = String(path.split('/').at(-1));
    const [stem = '', extension = ''] = name.split('.');
    const names = [
      '',
      '.',
      '..',
      'x',
      'x.png',
      `${'0'.repeat(32)}.png`,
      stray,
      stem,
      `${stem}.`,
      `${stem}.jpg`,
      `${stem}.${extension.toUpperCase()}`,
      `${stem.toUpperCase()}.${extension}`,
      `${name}.`,
      `${name}/`,
      `${name}%00`,
      `%00${name}`,
      `${stem}%00.${extension}`,
      `${name}%20`,
      `%20${name}`,
      `${name}%0a`,
      `./${name}`,
      `%2e/${name}`,
      `%2f${name}`,
      `.%2f${name}`,
      `..%2fimages%2f${name}`,
      `..%5cimages%5c${name}`,
      `x%2f..%2f${name}`,
      '..%2ftoken-keys',
      '..%2f..%2f..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      '..%252f..%252fetc%252fpasswd',
      '%2fetc%2fpasswd',
      '..\\..\\etc\\passwd',
      '....//etc/passwd',
      '%00',
      '%c0%ae%c0%ae%2f',
      'x'.repeat(200),
      `${'x'.repeat(8000)}.png`,
      '%F0%9F%98%80.png',
      '%',
      '*',
      "'%20or%20'1'='1",
    ];
    for (const candidate of names) {
      const status = await send(`/${route}/image/${candidate}`, ada.token);
      // What is no URL at all cannot be looked up.
      const undecodable = candidate === '%' || candidate.startsWith('%c0');
      t.equal(status, undecodable ? 400 : 404, `/${route}/image/${candidate.slice(0, 60)}`);
    }
    t.equal(await send(path, ada.token), 200, 'the name itself');
    t.equal(
      await send(
        path.replace(/[a-f]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
        ada.token,
      ),
      200,
    );
  }
});

t.test('a profile picture is no post’s image, nor the reverse', async (t) => {
  const ada = await service.person();
  const image = String((await writePost(ada, { image: png() })).image);
  const picture = (await ada.ask('PUT', '/profiles/me', { form: { image: png() } })).body.profile_link;
  t.match([image, picture], [/^\/posts\/image\/[0-9a-f]{32}\.png$/, /^\/profiles\/image\/[0-9a-f]{32}\.png$/]);
  t.equal((await ada.ask('GET', image.replace('/posts/', '/profiles/'))).status, 404);
  t.equal((await ada.ask('GET', picture.replace('/profiles/', '/posts/'))).status, 404);
  t.equal((await ada.ask('GET', image)).status, 200);
  t.equal((await ada.ask('GET', picture)).status, 200);
});

t.test('an image goes with its post, and a picture with its profile', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const post = await writePost(ada, { image: png() });
  const first = (await ada.ask('PUT', '/profiles/me', { form: { image: png() } })).body.profile_link;
  const second = (await ada.ask('PUT', '/profiles/me', { form: { image: png() } })).body.profile_link;
  for (const person of [ada, bob]) {
    t.equal((await person.ask('GET', first)).status, 404, 'a picture that is replaced');
    t.equal((await person.ask('GET', second)).status, 200);
  }
  await ada.ask('DELETE', `/posts/delete?id=${post.id}`);
  await ada.ask('PUT', '/profiles/me', { form: { remove_image: 'true' } });
  for (const person of [ada, bob]) {
    t.equal((await person.ask('GET', String(post.image))).status, 404, 'an image whose post is deleted');
    t.equal((await person.ask('GET', second)).status, 404, 'a picture that is removed');
  }
  const names = [post.image, first, second].map((path) => String(path).split('/').at(-1));
  while ((await storedImages(service.stores)).some((name) => names.includes(name))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.pass('and their bytes are gone');
});
