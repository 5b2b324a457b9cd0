import { readdir } from 'node:fs/promises';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { samples } from '../scripts/contract-test/images.js';
import { storedImages, storedTies } from './contents.js';
import { type Answer, type Ask, type Person, problemsOf, startTestService, writePost } from './harness.js';

const MAX_BYTES = 100_000;
const service = await startTestService(t, { UPLOAD_MAX_BYTES: String(MAX_BYTES) });
const { db, directory } = service.stores;

const blob = (bytes: Uint8Array, type: string) => new Blob([bytes], { type });
const png = () => blob(samples.png, 'image/png');
const jpeg = () => blob(samples.jpeg, 'image/jpeg');
const nameOf = (image: string | null) => image?.split('/').at(-1) ?? '';

type Fields = NonNullable<Ask['form']>;

const create = (person: Person, form: Fields) => person.ask('POST', '/posts/create', { form });
const edit = (person: Person, id: number, form: Fields) => person.ask('PUT', `/posts/edit?id=${id}`, { form });
const remove = (person: Person, id: number) => person.ask('DELETE', `/posts/delete?id=${id}`);
const read = async (person: Person, id: number) => (await person.ask('GET', `/posts/${id}`)).body;

/** The stored images, and the uploads under way. */
async function stored() {
  return { images: await storedImages(service.stores), uploads: await readdir(directory.uploads) };
}

/** Until the sweep has come by; the test's own time-out is the limit. */
async function untilStored(reached: (images: string[]) => boolean): Promise<void> {
  while (!reached((await stored()).images)) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A form as its bytes, for what FormData would not send. */
function rawForm(...parts: [headers: string, content: string | Uint8Array][]): Ask {
  const body = Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--edge\r\n${headers}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--edge--\r\n'),
  ]);
  return { body, headers: { 'Content-Type': 'multipart/form-data; boundary=edge' } };
}

/** What a browser sends for a file input in which nothing was chosen. */
const EMPTY_INPUT: [string, string] = [
  'Content-Disposition: form-data; name="image"; filename=""\r\nContent-Type: application/octet-stream',
  '',
];

const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;

function formOf(...entries: [name: string, value: string | Blob, fileName?: string][]): FormData {
  const form = new FormData();
  for (const [name, value, fileName] of entries) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, fileName);
  }
  return form;
}

/** The ids that are none, as they stand in a URL. */
const NO_IDS = ['0', '-1', '1.5', '1e3', '007', '9007199254740992', '99999999999999999999', 'x', '%2B1', '%201', '0x1'];

t.test('a post is created as it was sent, as the caller’s', async (t) => {
  const ada = await service.person();
  const before = Date.now();
  const { status, body } = await create(ada, { title: 'First swim', text: 'Four degrees.' });
  t.equal(status, 201);
  const { id, created_at, ...rest } = body;
  t.same(rest, {
    title: 'First swim',
    text: 'Four degrees.',
    image: null,
    author_id: ada.id,
    author_username: ada.username,
    like_count: 0,
    liked_by_me: false,
  });
  t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.ok(Date.parse(created_at) >= before - 1 && Date.parse(created_at) <= Date.now() + 1, 'created now');
  t.strictSame(await read(ada, id), { ...body, comments: [] }, 'and is read back with its comments, of which none');
  t.same((await ada.ask('GET', '/posts/me')).body, [body], 'and is listed without them');
});

t.test('title and text are kept as they were sent', async (t) => {
  const ada = await service.person();
  const texts = [
    '  spaces around\t',
    'a\nb\r\nc\rd',
    '<b>&amp;</b> \'"\\',
    'e\u0301 \u202e \ufeff 😀\u200d😀',
    '\ufeff\ufefffirst of all',
    'null',
    '0',
  ];
  for (const text of texts) {
    const { body } = await ada.ask('POST', '/posts/create', rawForm([field('title'), text], [field('text'), text]));
    t.strictSame([body.title, body.text], [text, text], JSON.stringify(text));
    t.equal((await read(ada, body.id)).text, text, 'in the store too');
  }
});

const withinBounds = { title: ['x', 'x'.repeat(200), '😀'.repeat(200)], text: ['x', '😀'.repeat(10_000)] };
const outOfBounds = {
  title: ['', ' ', ' \t\r\n\u0085\u00a0\u3000', 'x'.repeat(201), '😀'.repeat(201), 'a\0b', '\0'],
  text: ['', '   ', '\u2003', 'x'.repeat(10_001), '😀'.repeat(10_001), 'a\0b'],
};

for (const name of ['title', 'text'] as const) {
  t.test(`the bounds of ${name} are code points, and it is not blank and without NUL`, async (t) => {
    const ada = await service.person();
    const post = await writePost(ada);
    const size = (value: string) => `${[...value].length} code points of ${JSON.stringify(value.slice(0, 4))}`;
    for (const value of withinBounds[name]) {
      const created = await create(ada, { title: 'A title', text: 'A text', [name]: value });
      t.strictSame([created.status, created.body[name]], [201, value], `created with ${size(value)}`);
      const edited = await edit(ada, post.id, { [name]: value });
      t.strictSame([edited.status, edited.body[name]], [200, value], `edited to ${size(value)}`);
    }
    const kept = await read(ada, post.id);
    const mine = (await ada.ask('GET', '/posts/me')).body.length;
    for (const value of outOfBounds[name]) {
      const created = await create(ada, { title: 'A title', text: 'A text', [name]: value });
      t.strictSame([created.status, ...new Set(problemsOf(created))], [400, `body.${name}`], `no ${size(value)}`);
      const edited = await edit(ada, post.id, { [name]: value });
      t.strictSame([edited.status, ...new Set(problemsOf(edited))], [400, `body.${name}`], `nor by an edit`);
    }
    t.strictSame(await read(ada, post.id), kept, 'the post is as it was');
    t.equal((await ada.ask('GET', '/posts/me')).body.length, mine, 'and none has come');
  });
}

t.test('a refused form lists all its problems, and nothing of it is stored', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada, { image: png() });
  const kept = await read(ada, post.id);
  const before = await stored();
  const good: [string, string][] = [
    ['title', 'A title'],
    ['text', 'A text'],
  ];
  const image: [string, Blob, string] = ['image', png(), 'a.png'];

  const refusals: Record<string, [create: string[], edit: string[] | undefined, Ask]> = {
    'no body at all': [['body.title', 'body.text'], ['body.'], {}],
    'an empty form': [['body.title', 'body.text'], ['body.'], { body: formOf() }],
    'an image alone': [['body.title', 'body.text'], undefined, { body: formOf(image) }],
    'an author': [['body.author_id'], ['body.author_id'], { body: formOf(...good, ['author_id', '1'], image) }],
    'its own author': [['body.author_id'], ['body.author_id'], { body: formOf(...good, ['author_id', `${ada.id}`]) }],
    'an unknown field': [['body.tags'], ['body.tags'], { body: formOf(...good, ['tags', 'x'], image) }],
    'an unknown file': [['body.cover'], ['body.cover'], { body: formOf(...good, ['cover', png(), 'a.png'], image) }],
    'a field twice': [['body.title'], ['body.title'], { body: formOf(...good, ['title', 'B'], image) }],
    'the same value twice': [['body.text'], ['body.text'], { body: formOf(...good, ['text', 'A text']) }],
    'two images': [['body.image'], ['body.image'], { body: formOf(...good, image, image) }],
    'an image as text': [['body.image'], ['body.image'], { body: formOf(...good, ['image', 'x']) }],
    'a title as a file': [
      ['body.title'],
      ['body.title'],
      { body: formOf(['title', png(), 'a.png'], ['text', 'A text'], image) },
    ],
    'text that is not UTF-8': [
      ['body.text'],
      ['body.text'],
      rawForm([field('title'), 'A title'], [field('text'), Buffer.from('a\xed\xa0\x80', 'latin1')]),
    ],
    'several at once': [
      ['body.author_id', 'body.image', 'body.text', 'body.title'],
      ['body.author_id', 'body.image', 'body.text', 'body.title'],
      {
        body: formOf(
          ['title', ''],
          ['text', ' '],
          ['author_id', '1'],
          ['image', blob(samples.gif, 'image/png'), 'a.png'],
        ),
      },
    ],
    'JSON of another shape than a form': [[], [], { json: { title: 'A title', text: 'A text' } }],
    'a form of another kind': [[], [], { body: new URLSearchParams({ title: 'A', text: 'A' }).toString() }],
  };
  for (const [what, [onCreate, onEdit, ask]] of Object.entries(refusals)) {
    const status = onCreate.length > 0 ? 400 : 415;
    const created = await ada.ask('POST', '/posts/create', ask);
    t.equal(created.status, status, `create, ${what}`);
    t.strictSame([...new Set(problemsOf(created))].sort(), [...onCreate].sort(), `create names what is wrong: ${what}`);
    if (!onEdit) continue;
    const edited = await ada.ask('PUT', `/posts/edit?id=${post.id}`, ask);
    t.equal(edited.status, status, `edit, ${what}`);
    t.strictSame([...new Set(problemsOf(edited))].sort(), [...onEdit].sort(), `edit names what is wrong: ${what}`);
  }

  const onlyOnEdit = await create(ada, { title: 'A title', text: 'A text', remove_image: 'false' });
  t.strictSame([onlyOnEdit.status, problemsOf(onlyOnEdit)], [400, ['body.remove_image']], 'create has no remove_image');
  const inQuery = await ada.ask('POST', `/posts/create?author_id=${ada.id}`, { body: formOf(...good) });
  t.strictSame([inQuery.status, problemsOf(inQuery)], [400, ['query.author_id']], 'nor an author in the query');
  const both = await ada.ask('PUT', `/posts/edit?id=x&draft=1`, { body: formOf(['title', '']) });
  t.equal(both.status, 400);
  t.ok(
    ['query.id', 'query.draft', 'body.title'].every((problem) => problemsOf(both).includes(problem)),
    'query and body are judged together',
  );

  t.strictSame((await ada.ask('GET', '/posts/me')).body.length, 1, 'no post has come');
  t.strictSame(await read(ada, post.id), kept, 'the one that is there is as it was');
  t.strictSame(await stored(), before, 'no bytes are stored, and none are left in the spool');
});

const imageKinds: [what: string, bytes: Buffer, declared: string, extension: string][] = [
  ['a PNG', samples.png, 'image/png', 'png'],
  ['a JPEG', samples.jpeg, 'image/jpeg', 'jpg'],
  ['a JPEG by its other name', samples.jpeg, 'image/jpg', 'jpg'],
  ['a GIF', samples.gif, 'image/gif', 'gif'],
  ['a WebP', samples.webp, 'image/webp', 'webp'],
  ['an AVIF', samples.avif, 'image/avif', 'avif'],
  ['an animated PNG', samples.apng, 'image/apng', 'png'],
  ['an animated PNG as a PNG', samples.apng, 'image/png', 'png'],
  ['a type in capitals, with a parameter', samples.png, 'IMAGE/PNG; q=1', 'png'],
  ['a JPEG as a stream of octets', samples.jpeg, 'application/octet-stream', 'jpg'],
  ['a GIF as a stream of octets', samples.gif, 'application/octet-stream', 'gif'],
];

t.test('an image of every kind is taken, under a name that says nothing', async (t) => {
  const ada = await service.person();
  const names = new Set<string>();
  for (const [what, bytes, declared, extension] of imageKinds) {
    const headers = `${field('image')}; filename="../../my holiday.html"\r\nContent-Type: ${declared}`;
    const ask = rawForm([field('title'), 'T'], [headers, bytes], [field('text'), 'T']);
    const { status, body } = await ada.ask('POST', '/posts/create', ask);
    t.equal(status, 201, what);
    t.match(body.image, new RegExp(`^/posts/image/[0-9a-f]{32,}\\.${extension}$`), `${what} has a random name`);
    t.ok((await ada.ask('GET', body.image)).bytes.equals(bytes), `${what} comes back byte for byte`);
    names.add(body.image);
  }
  const { body } = await ada.ask(
    'POST',
    '/posts/create',
    rawForm([`${field('image')}; filename="x"`, samples.webp], [field('title'), 'T'], [field('text'), 'T']),
  );
  t.match(body.image, /\.webp$/, 'a part without any type declares nothing, and may come before the fields');
  t.equal(names.size, imageKinds.length, 'the same bytes get another name every time');
  t.strictSame((await stored()).uploads, [], 'the spool is empty');
});

const noImages: [what: string, bytes: Uint8Array, declared: string][] = [
  ['a PNG declared as JPEG', samples.png, 'image/jpeg'],
  ['a JPEG declared as PNG', samples.jpeg, 'image/png'],
  ['a GIF declared as WebP', samples.gif, 'image/webp'],
  ['a WebP declared as AVIF', samples.webp, 'image/avif'],
  ['an AVIF declared as GIF', samples.avif, 'image/gif'],
  ['a GIF declared as animated PNG', samples.gif, 'image/apng'],
  ['a PNG declared as text', samples.png, 'text/plain'],
  ['a PNG declared as SVG', samples.png, 'image/svg+xml'],
  ['text declared as PNG', Buffer.from('hello'), 'image/png'],
  ['text as a stream of octets', Buffer.from('hello'), 'application/octet-stream'],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['HTML declared as GIF', Buffer.from('<!doctype html>GIF89a'), 'image/gif'],
  ['a GIF of no version', Buffer.from('GIFxyz and more'), 'image/gif'],
  ['a PNG behind a byte-order mark', Buffer.concat([Buffer.from('\ufeff'), samples.png]), 'image/png'],
  ['the first seven bytes of a PNG', samples.png.subarray(0, 7), 'image/png'],
  ['nothing, under a file name', Buffer.alloc(0), 'image/png'],
];

t.test('a file that is no image, or another than declared, is 400, and nothing is stored', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada, { image: jpeg() });
  const before = await stored();
  for (const [what, bytes, type] of noImages) {
    const image = blob(bytes, type);
    const created = await create(ada, { title: 'A title', text: 'A text', image });
    t.strictSame([created.status, problemsOf(created)], [400, ['body.image']], `create: ${what}`);
    const edited = await edit(ada, post.id, { title: 'Another', image });
    t.strictSame([edited.status, problemsOf(edited)], [400, ['body.image']], `edit: ${what}`);
  }
  t.strictSame(await stored(), before, 'the disk is as it was');
  t.strictSame((await ada.ask('GET', '/posts/me')).body, [post], 'and so are the posts');
});

t.test('a file may be as large as the limit, and one byte more is 413', async (t) => {
  const ada = await service.person();
  const sized = (size: number) => blob(Buffer.concat([samples.png, Buffer.alloc(size - samples.png.length)]), '');
  const largest = await create(ada, { title: 'A title', text: 'A text', image: sized(MAX_BYTES) });
  t.equal(largest.status, 201);
  t.equal((await ada.ask('GET', largest.body.image)).bytes.length, MAX_BYTES);
  const before = await stored();
  for (const size of [MAX_BYTES + 1, MAX_BYTES + 300 * 1024]) {
    const created = await create(ada, { title: 'A title', text: 'A text', image: sized(size) });
    t.equal(created.status, 413, `create with ${size} bytes`);
    t.type(created.body.message, 'string');
    const edited = await edit(ada, largest.body.id, { title: 'Changed', image: sized(size) });
    t.equal(edited.status, 413, `edit with ${size} bytes`);
  }
  t.strictSame(await stored(), before, 'nothing of them is stored');
  t.strictSame((await ada.ask('GET', '/posts/me')).body, [largest.body], 'and no post has changed');
});

t.test('an edit changes what it names and keeps the rest', async (t) => {
  const ada = await service.person();
  const original = await writePost(ada, { title: 'Title', text: 'Text', image: png() });
  await ada.ask('POST', `/posts/like?id=${original.id}`);
  const liked = { ...original, like_count: 1, liked_by_me: true };
  const steps: [what: string, form: Fields, changes: Partial<typeof liked>][] = [
    ['the title', { title: 'Title 2' }, { title: 'Title 2' }],
    ['the text', { text: 'Text 2' }, { text: 'Text 2' }],
    ['both', { title: 'Title 3', text: 'Text 3' }, { title: 'Title 3', text: 'Text 3' }],
    ['a title to what it is: that is a change', { title: 'Title 3' }, {}],
    ['and removes no image', { text: 'Text 4', remove_image: 'false' }, { text: 'Text 4' }],
  ];
  let expected = liked;
  for (const [what, form, changes] of steps) {
    expected = { ...expected, ...changes };
    const { status, body } = await edit(ada, original.id, form);
    t.equal(status, 200, what);
    t.strictSame(body, expected, `${what}: the answer is the post after the change`);
    t.strictSame(await read(ada, original.id), { ...expected, comments: [] }, `${what}: and so it is read`);
  }
  const ask = rawForm(EMPTY_INPUT, [field('text'), 'Text 5']);
  const beside = await ada.ask('PUT', `/posts/edit?id=${original.id}`, ask);
  t.strictSame(
    [beside.status, beside.body],
    [200, { ...expected, text: 'Text 5' }],
    'a file input left empty is no file',
  );
  t.ok((await ada.ask('GET', original.image as string)).bytes.equals(samples.png), 'the image is still there');
});

t.test('an edit replaces or removes the image, and the old bytes go', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada, { image: png() });
  const images = [post.image as string];

  const replaced = await edit(ada, post.id, { image: jpeg() });
  t.equal(replaced.status, 200);
  t.match(replaced.body, { title: post.title, text: post.text, image: /\.jpg$/ }, 'replaced');
  images.push(replaced.body.image);

  const again = await edit(ada, post.id, { image: blob(samples.gif, 'image/gif'), remove_image: 'false' });
  t.match([again.status, again.body.image], [200, /\.gif$/], 'replaced, and explicitly not removed');
  images.push(again.body.image);

  for (const [index, image] of images.entries()) {
    const { status } = await ada.ask('GET', image);
    t.equal(status, index === 2 ? 200 : 404, `image ${index + 1} of 3`);
  }
  const old = images.slice(0, 2).map(nameOf);
  await untilStored((stored) => !old.some((name) => stored.includes(name)));
  t.ok((await stored()).images.includes(nameOf(again.body.image)), 'the current bytes stay');

  const both = await edit(ada, post.id, { image: png(), remove_image: 'true' });
  t.strictSame([both.status, problemsOf(both)], [400, ['body.remove_image']], 'not both at once');
  const bad = new Blob(['no image'], { type: 'image/png' });
  t.same(problemsOf(await edit(ada, post.id, { image: bad, remove_image: 'true' })), [
    'body.image',
    'body.remove_image',
  ]);
  t.same(problemsOf(await edit(ada, post.id, { image: bad, remove_image: 'false' })), ['body.image'], 'nothing more');
  t.equal((await ada.ask('GET', again.body.image)).status, 200, 'which changes nothing');

  const removed = await edit(ada, post.id, { remove_image: 'True' });
  t.strictSame([removed.status, removed.body], [200, { ...post, image: null }], 'removed');
  t.equal((await ada.ask('GET', again.body.image)).status, 404, 'and gone');
  await untilStored((stored) => !stored.includes(nameOf(again.body.image)));

  const nothingThere = await edit(ada, post.id, { remove_image: 'true' });
  t.strictSame([nothingThere.status, nothingThere.body.image], [200, null], 'removing what is not there is a change');
  const anew = await edit(ada, post.id, { image: png() });
  t.equal((await ada.ask('GET', anew.body.image)).status, 200, 'and there may be one again');
});

t.test('an edit that changes nothing is 400', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada, { image: png() });
  const idle: Record<string, Ask> = {
    'no field': { form: {} },
    'no image removed': { form: { remove_image: 'false' } },
    'a file input left empty': rawForm(EMPTY_INPUT),
    'both of these': rawForm([field('remove_image'), 'FALSE'], EMPTY_INPUT),
  };
  for (const [what, ask] of Object.entries(idle)) {
    const answer = await ada.ask('PUT', `/posts/edit?id=${post.id}`, ask);
    t.strictSame([answer.status, problemsOf(answer)], [400, ['body.']], what);
  }
  for (const value of ['', 'yes', '1', 'true ', 'null']) {
    const answer = await edit(ada, post.id, { title: 'Another', remove_image: value });
    t.strictSame([answer.status, problemsOf(answer)], [400, ['body.remove_image']], `remove_image=${value} is neither`);
  }
  t.strictSame(await read(ada, post.id), { ...post, comments: [] });
});

t.test('edits at once leave one image, and a deletion among them none', async (t) => {
  const ada = await service.person();
  const before = (await stored()).images;
  const posts = await Promise.all(Array.from({ length: 4 }, () => writePost(ada, { image: png() })));
  await Promise.all(
    posts.flatMap(({ id }, index) =>
      Array.from({ length: 6 }, async (_, step) => {
        const doomed = index >= 2 && step === 3;
        const { status } = doomed ? await remove(ada, id) : await edit(ada, id, { title: `${step}`, image: jpeg() });
        if (doomed || index < 2) t.equal(status, 200, doomed ? 'the deletion succeeds' : 'each edit succeeds');
        else t.ok(status === 200 || status === 404, 'an edit comes before the deletion, or finds nothing');
      }),
    ),
  );
  const left = (await ada.ask('GET', '/posts/me')).body;
  t.equal(left.length, 2);
  for (const post of left)
    t.equal((await ada.ask('GET', post.image)).status, 200, 'the image that a post names is there');
  const named = left.map((post: { image: string }) => nameOf(post.image));
  await untilStored((images) => images.length === before.length + 2);
  t.strictSame((await stored()).images, [...before, ...named].sort(), 'and all others are gone');
  t.strictSame((await stored()).uploads, []);
});

t.test('a deleted post is gone with its image and its likes', async (t) => {
  const [ada, bob] = [await service.person(), await service.person()];
  const kept = await writePost(ada, { image: png() });
  const post = await writePost(ada, { image: png() });
  await bob.ask('POST', `/posts/like?id=${post.id}`);
  await bob.ask('POST', `/posts/like?id=${kept.id}`);
  const deleted = await remove(ada, post.id);
  t.strictSame([deleted.status, Object.keys(deleted.body)], [200, ['message']]);
  for (const person of [ada, bob]) {
    t.equal((await person.ask('GET', `/posts/${post.id}`)).status, 404);
    t.equal((await person.ask('GET', post.image as string)).status, 404);
    t.equal((await person.ask('POST', `/posts/like?id=${post.id}`)).status, 404);
    t.equal((await person.ask('DELETE', `/posts/like?id=${post.id}`)).status, 404);
  }
  const { likes } = await storedTies(service.stores, [bob.id]);
  t.same(likes, [{ person: bob.id, post: kept.id }], 'the graph keeps the likes of other posts alone');
  await untilStored((images) => !images.includes(nameOf(post.image)));
  t.equal((await remove(ada, post.id)).status, 404, 'it cannot be deleted twice');
  t.equal((await edit(ada, post.id, { title: 'Back?' })).status, 404, 'nor brought back');
  t.match((await ada.ask('GET', '/posts/me')).body, [{ id: kept.id, image: kept.image, like_count: 1 }]);
  t.equal((await ada.ask('GET', kept.image as string)).status, 200, 'another post’s image stays');
});

t.test('edit and delete answer a missing, a hidden and another’s post alike, and leave it alone', async (t) => {
  const [ada, hermit] = [await service.person(), await service.person({ private: true })];
  const [open, hidden] = [await writePost(ada, { image: png() }), await writePost(hermit, { image: png() })];
  const bob = await service.person();
  const gone = await writePost(bob);
  await remove(bob, gone.id);
  const before = await stored();
  const targets = { missing: 9007199254740991, deleted: gone.id, hidden: hidden.id, 'another’s': open.id };

  const attempts: Record<string, (id: number) => Promise<Answer>> = {
    edit: (id) => edit(bob, id, { title: 'Mine now' }),
    'edit with an image': (id) => edit(bob, id, { image: jpeg() }),
    'edit without the image': (id) => edit(bob, id, { remove_image: 'true' }),
    delete: (id) => remove(bob, id),
  };
  const bodies = new Set<string>();
  for (const [what, attempt] of Object.entries(attempts)) {
    for (const [which, id] of Object.entries(targets)) {
      const { status, bytes } = await attempt(id);
      t.equal(status, 404, `${what}: ${which}`);
      bodies.add(bytes.toString());
    }
  }
  t.equal(bodies.size, 1, 'in the same words');
  t.equal((await edit(bob, hidden.id, { title: '' })).status, 400, 'a form that is not valid is 400 before that');
  t.strictSame(await read(ada, open.id), { ...open, comments: [] });
  t.strictSame(await read(hermit, hidden.id), { ...hidden, comments: [] });
  t.strictSame(await stored(), before, 'no image has come or gone');
});

t.test('an id that is none is 400 in a query and 404 in a path', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada);
  const operations: Record<string, (query: string) => Promise<Answer>> = {
    edit: (query) => ada.ask('PUT', `/posts/edit${query}`, { form: { title: 'Another' } }),
    delete: (query) => ada.ask('DELETE', `/posts/delete${query}`),
  };
  const queries = [
    ...NO_IDS.map((id) => `?id=${id}`),
    '',
    '?',
    '?id',
    '?id=',
    '?id=%00',
    `?id=${post.id}&id=${post.id}`,
  ];
  for (const [what, ask] of Object.entries(operations)) {
    for (const query of queries) {
      const answer = await ask(query);
      t.strictSame([answer.status, ...new Set(problemsOf(answer))], [400, 'query.id'], `${what}${query}`);
    }
    const unknown = await ask(`?id=${post.id}&force=true`);
    t.strictSame([unknown.status, problemsOf(unknown)], [400, ['query.force']], `${what}: no other parameter`);
    t.equal((await ask('?id=9007199254740991')).status, 404, `${what}: the greatest id is one`);
  }
  for (const id of [...NO_IDS, '%00', `${post.id}%20`, `${post.id}%2f`, `${post.id}.0`, '9007199254740991', '%ED%A0']) {
    const { status } = await ada.ask('GET', `/posts/${id}`);
    t.equal(status, id === '%ED%A0' ? 400 : 404, `GET /posts/${id}`);
  }
  t.strictSame(await read(ada, post.id), { ...post, comments: [] }, 'the post is as it was');
});

t.test('operations without a body take none but an empty object', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada);
  const bodies: Record<string, Ask> = {
    'an object with a field': { json: { id: post.id } },
    'an empty array': { json: [] },
    null: { json: null },
    'broken JSON': { body: '{', headers: { 'Content-Type': 'application/json' } },
    text: { body: 'x', headers: { 'Content-Type': 'text/plain' } },
    'bytes without a type': { body: new Uint8Array([1]) },
    'a form': { form: { id: String(post.id) } },
  };
  for (const [what, ask] of Object.entries(bodies)) {
    const answer = await ada.ask('DELETE', `/posts/delete?id=${post.id}`, ask);
    t.strictSame([answer.status, problemsOf(answer)[0]?.split('.')[0]], [400, 'body'], what);
  }
  t.equal((await ada.ask('DELETE', `/posts/delete?id=${post.id}`, { json: {} })).status, 200);
});

t.test('the lists take only a page that can be', async (t) => {
  const ada = await service.person();
  const bad: Record<'limit' | 'offset', string[]> = {
    limit: ['0', '-1', '101', '1.5', '1e1', '007', '', 'x', '99999999999999999999', '%2010', '10&limit=10'],
    offset: ['-1', '2147483648', '1.5', '1e3', '00', '', 'x', '99999999999999999999', '-0', '1&offset=1'],
  };
  for (const path of ['/posts', '/posts/me']) {
    for (const name of ['limit', 'offset'] as const) {
      for (const value of bad[name]) {
        const answer = await ada.ask('GET', `${path}?${name}=${value}`);
        t.strictSame(
          [answer.status, ...new Set(problemsOf(answer))],
          [400, `query.${name}`],
          `${path} ${name}=${value}`,
        );
      }
    }
    const both = await ada.ask('GET', `${path}?limit=0&offset=-1&page=2`);
    t.strictSame(problemsOf(both).sort(), ['query.limit', 'query.offset', 'query.page'], 'all problems at once');
    for (const query of ['limit=1', 'limit=100', 'offset=0', 'offset=2147483647', 'limit=100&offset=2147483647']) {
      t.equal((await ada.ask('GET', `${path}?${query}`)).status, 200, `${path}?${query}`);
    }
  }
});

t.test('/posts/me lists the caller’s posts alone, newest first, page by page', async (t) => {
  const [ada, bob] = [await service.person({ private: true }), await service.person()];
  // Three posts of each instant: then the id decides.
  await sql`
    insert into posts (author_id, title, text, created_at)
    select ${ada.id}, 'post ' || n, 'text', timestamptz '2026-01-01' + (n / 3) * interval '1 second'
    from generate_series(1, 45) as n`.execute(db);
  await writePost(bob);
  const rows = await db.selectFrom('posts').selectAll().where('author_id', '=', ada.id).execute();
  const expected = rows
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.id - a.id)
    .map(({ title }) => title);
  const titles = ({ body }: Answer) => body.map(({ title }: { title: string }) => title);

  const first = await ada.ask('GET', '/posts/me');
  t.strictSame(titles(first), expected.slice(0, 20), 'twenty if nothing is said');
  t.equal(first.headers.get('link'), '</posts/me?limit=20&offset=20>; rel="next"');
  const pages: [limit: number, offset: number, more: boolean][] = [
    [1, 0, true],
    [44, 0, true],
    [45, 0, false],
    [100, 0, false],
    [20, 24, true],
    [20, 25, false],
    [20, 40, false],
    [20, 45, false],
    [20, 2147483647, false],
  ];
  for (const [limit, offset, more] of pages) {
    const page = await ada.ask('GET', `/posts/me?limit=${limit}&offset=${offset}`);
    t.strictSame(titles(page), expected.slice(offset, offset + limit), `limit ${limit}, offset ${offset}`);
    t.equal(page.headers.has('link'), more, more ? 'there is more' : 'there is no more');
  }
  t.strictSame(await followAll(ada, '/posts/me?limit=7', titles), expected, 'following the links');
  t.equal((await bob.ask('GET', '/posts/me')).body.length, 1, 'to Bob his own');
});

/** All entries of all pages, by following `rel="next"`. */
async function followAll<Entry>(person: Person, start: string, entriesOf: (page: Answer) => Entry[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let next: string | undefined = start; next; ) {
    const page: Answer = await person.ask('GET', next);
    entries.push(...entriesOf(page));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return entries;
}

t.test('every operation on posts wants credentials before anything else', async (t) => {
  const ada = await service.person();
  const post = await writePost(ada, { image: png() });
  const requests: [method: string, path: string][] = [
    ['GET', '/posts?limit=0'],
    ['GET', '/posts/me?limit=0'],
    ['GET', `/posts/${post.id}`],
    ['GET', '/posts/x'],
    ['GET', post.image as string],
    ['POST', '/posts/create'],
    ['PUT', '/posts/edit?id=x'],
    ['DELETE', '/posts/delete?id=x'],
    ['POST', '/posts/like?id=x'],
    ['DELETE', '/posts/like?id=x'],
  ];
  await expectUnauthorized(t, requests, undefined);
  await ada.ask('POST', '/auth/logout');
  await expectUnauthorized(t, requests, ada.token);
});

async function expectUnauthorized(t: Test, requests: [string, string][], token: string | undefined) {
  for (const [method, path] of requests) {
    const { status, headers } = await service.ask(method, path, token === undefined ? {} : { token });
    const who = token === undefined ? 'nobody' : 'who has logged out';
    t.strictSame([status, headers.get('www-authenticate')], [401, 'Bearer'], `${method} ${path} by ${who}`);
  }
}

t.test('a literal path is never taken for a post’s id', async (t) => {
  const ada = await service.person();
  for (const [path, allowed] of [
    ['/posts/create', 'POST'],
    ['/posts/edit', 'PUT'],
    ['/posts/delete', 'DELETE'],
    ['/posts/like', 'POST'],
  ] as const) {
    const { status, headers } = await ada.ask('GET', path);
    t.equal(status, 405, path);
    t.match(headers.get('allow'), allowed, path);
  }
});
