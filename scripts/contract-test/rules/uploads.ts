import type { CheckedResponse, RequestOptions } from '../exchange.js';
import { expectEqual, expectProblems, expectThat, SkippedError } from '../expect.js';
import { type Post, png, publish, type RawPart, rawForm } from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

const MAX_BYTES = 5 * 1024 * 1024;

/** Each type of image: its bytes, the names it may be declared by, and the type it is served with. */
const TYPES = [
  { id: 'png', bytes: samples.png, served: 'image/png', declared: ['image/png', 'IMAGE/PNG; q=1', 'image/apng'] },
  { id: 'apng', bytes: samples.apng, served: 'image/png', declared: ['image/png', 'image/apng'] },
  { id: 'jpeg', bytes: samples.jpeg, served: 'image/jpeg', declared: ['image/jpeg', 'image/jpg'] },
  { id: 'gif', bytes: samples.gif, served: 'image/gif', declared: ['image/gif'] },
  { id: 'webp', bytes: samples.webp, served: 'image/webp', declared: ['image/webp'] },
  { id: 'avif', bytes: samples.avif, served: 'image/avif', declared: ['image/avif'] },
];
/** A part of these types declares nothing. */
const UNDECLARED = ['application/octet-stream', undefined];
const DECLARED = [...new Set(TYPES.map(({ served }) => served)), 'text/plain'];

const ascii = (text: string) => Buffer.from(text, 'latin1');
const ftyp = (...brands: string[]) => {
  const box = Buffer.concat([Buffer.alloc(4), ascii(`ftyp${brands[0]}\0\0\0\0${brands.slice(1).join('')}`)]);
  box.writeUInt32BE(box.length);
  return Buffer.concat([box, Buffer.alloc(64)]);
};

/** Files that begin almost like an allowed image, and the type that they pretend to be. */
const NEAR_MISSES: [id: string, what: string, bytes: Buffer, pretends: string][] = [
  ['wav', 'WAV, which is RIFF as WebP is', ascii('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'), 'image/webp'],
  ['avi', 'AVI, which is RIFF as WebP is', ascii('RIFF\x24\0\0\0AVI LIST\x10\0\0\0'), 'image/webp'],
  ['riff', 'RIFF without a form type', ascii('RIFF\x24\0\0\0'), 'image/webp'],
  ['mp4', 'MP4, which has an ftyp box as AVIF has', ftyp('isom', 'isom', 'mp42'), 'image/avif'],
  ['heic', 'HEIC, which has an ftyp box as AVIF has', ftyp('heic', 'mif1', 'heic'), 'image/avif'],
  ['mov', 'QuickTime, which has an ftyp box as AVIF has', ftyp('qt  ', 'qt  '), 'image/avif'],
  ['tiff', 'TIFF', ascii('II*\0\x08\0\0\0\0\0'), 'image/jpeg'],
  ['tiff-big-endian', 'TIFF, big-endian', ascii('MM\0*\0\0\0\x08\0\0'), 'image/png'],
  ['svg', 'SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
  ['svg-declared', 'SVG as such', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['pdf', 'PDF', ascii('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'), 'image/jpeg'],
  ['bmp', 'BMP', ascii('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0'), 'image/gif'],
  ['ico', 'ICO', ascii('\0\0\x01\0\x01\0\x10\x10'), 'image/png'],
  ['jpeg-xl', 'JPEG XL', ascii('\xff\x0a\xfa\x1f\x01\x90'), 'image/jpeg'],
  ['jpeg-2000', 'JPEG 2000', ascii('\0\0\0\x0cjP  \r\n\x87\n'), 'image/jpeg'],
  ['gif-version', 'GIF of an unknown version', Buffer.concat([ascii('GIF88a'), samples.gif.subarray(6)]), 'image/gif'],
  ['png-cut', 'the first seven bytes of a PNG', samples.png.subarray(0, 7), 'image/png'],
  ['png-text-mode', 'PNG whose line breaks were converted', ascii('\x89PNG\n\x1a\n\0\0\0\rIHDR'), 'image/png'],
  ['jpeg-cut', 'the first two bytes of a JPEG', samples.jpeg.subarray(0, 2), 'image/jpeg'],
  ['shifted', 'PNG after one other byte', Buffer.concat([ascii(' '), samples.png]), 'image/png'],
  ['html', 'HTML', ascii('<!doctype html><script>alert(1)</script>'), 'image/gif'],
  ['empty', 'a file of no bytes, with a name', Buffer.alloc(0), 'image/png'],
];

const imagePart = (content: Uint8Array, type?: string, fileName = 'photo.of.me.png'): RawPart => ({
  name: 'image',
  content,
  fileName,
  ...(type !== undefined && { type }),
});

/** A form that takes an image: how it is sent, and what it says of the image that it concerns. */
interface Form {
  id: string;
  title: string;
  /** The status of success. */
  success: number;
  /** Whether the form can remove the image. */
  removes: boolean;
  field: 'image' | 'profile_link';
  send(cast: TestUsers, wanted: number | number[], ...parts: RawPart[]): Promise<CheckedResponse>;
  /** The image as it is now; null where every form is a new post. */
  present(cast: TestUsers): Promise<string | null>;
  user(cast: TestUsers): Promise<User>;
}

const text = (name: string, content: string): RawPart => ({ name, content });

const uploader = (cast: TestUsers) =>
  cast.once('uploader', async () => {
    const user = await cast.register();
    const post = await publish(user, { image: png() });
    await user.send(200, 'PUT /profiles/me', { form: { image: png() } });
    return { user, post };
  });

const userOf = async (cast: TestUsers) => (await uploader(cast)).user;

const FORMS: Form[] = [
  {
    id: 'create',
    title: 'POST /posts/create',
    success: 201,
    removes: false,
    field: 'image',
    user: userOf,
    present: async () => null,
    send: async (cast, wanted, ...parts) =>
      (await userOf(cast)).send(
        wanted,
        'POST /posts/create',
        rawForm(text('title', 'A title'), text('text', 'A text'), ...parts),
      ),
  },
  {
    id: 'edit',
    title: 'PUT /posts/edit',
    success: 200,
    removes: true,
    field: 'image',
    user: userOf,
    async present(cast) {
      const { user, post } = await uploader(cast);
      return (await user.send(200, `GET /posts/${post.id}`)).body.image;
    },
    async send(cast, wanted, ...parts) {
      const { user, post } = await uploader(cast);
      return user.send(wanted, `PUT /posts/edit?id=${post.id}`, rawForm(...parts));
    },
  },
  {
    id: 'profile',
    title: 'PUT /profiles/me',
    success: 200,
    removes: true,
    field: 'profile_link',
    user: userOf,
    present: async (cast) => (await (await userOf(cast)).send(200, 'GET /profiles/me')).body.profile_link,
    send: async (cast, wanted, ...parts) => (await userOf(cast)).send(wanted, 'PUT /profiles/me', rawForm(...parts)),
  },
];

/** Sends files that must be refused side by side, and checks that the image stays as it is. */
async function wantRefused(cast: TestUsers, form: Form, files: [bytes: Buffer, declared: string | undefined][]) {
  const before = await form.present(cast);
  await Promise.all(
    files.map(async ([bytes, declared]) => {
      const answer = await form.send(cast, [form.success, 400], imagePart(bytes, declared));
      expectThat(answer.status === 400, `400 for a file declared as ${declared ?? 'nothing'}`, answer);
      expectProblems(answer, 'body.image');
    }),
  );
  const user = await form.user(cast);
  const answer = await user.send(200, 'GET /profiles/me');
  expectEqual(answer, 'the image, as before', await form.present(cast), before);
}

async function wantStored(
  cast: TestUsers,
  form: Form,
  bytes: Buffer,
  declared: string | undefined,
  served: string,
  servedBytes = bytes,
) {
  const answer = await form.send(cast, [form.success, 400, 413], imagePart(bytes, declared));
  expectThat(answer.status === form.success, `${form.success} for a file declared as ${declared ?? 'nothing'}`, answer);
  const path: string = answer.body[form.field];
  const download = await (await form.user(cast)).send(200, `GET ${path}`);
  const wanted = servedBytes === bytes ? 'the bytes as they were uploaded' : 'the image without its metadata';
  expectThat(download.bytes.equals(servedBytes), wanted, download);
  expectEqual(download, 'Content-Type', download.headers.get('content-type'), served);
  expectEqual(download, 'Content-Length', download.headers.get('content-length'), String(servedBytes.length));
  return path;
}

const typeRules = FORMS.flatMap((form) =>
  TYPES.map(({ id, bytes, served, declared }) =>
    rule(
      `uploads.type.${id}.${form.id}`,
      `${form.title} stores ${id.toUpperCase()} that is declared as ${[...declared, 'application/octet-stream'].join(', ')} or not at all, serves it byte for byte as ${served}, and refuses it under any other type.`,
      async (cast) => {
        // Every name on one form, one of them on the others.
        const names = form.id === 'create' ? [...declared, ...UNDECLARED] : [declared[0], UNDECLARED[0]];
        for (const type of names) await wantStored(cast, form, bytes, type, served);
        const wrong = DECLARED.filter((type) => type !== served);
        await wantRefused(
          cast,
          form,
          wrong.map((type) => [bytes, type]),
        );
      },
    ),
  ),
);

const nearMissRules = FORMS.map((form) =>
  rule(
    `uploads.no-image.${form.id}`,
    `${form.title} refuses a file that is not JPEG, PNG, GIF, WebP or AVIF, whatever it is declared as: ${NEAR_MISSES.map(([, what]) => what).join('; ')}.`,
    async (cast) =>
      wantRefused(
        cast,
        form,
        NEAR_MISSES.flatMap(([, , bytes, pretends]): [Buffer, string | undefined][] => [
          [bytes, pretends],
          ...(form.id === 'create' ? ([[bytes, 'application/octet-stream']] as [Buffer, string][]) : []),
        ]),
      ),
  ),
);

/** JPEGs with metadata, and a file that only begins as a JPEG, each with the bytes that are served. */
const COMMENT = ascii('\xff\xfe\0\x0bIdentify!');
const START = samples.jpeg.subarray(0, 20);
const WITH_METADATA: [uploaded: Buffer, served: Buffer][] = [
  [Buffer.concat([START, COMMENT, samples.jpeg.subarray(20)]), samples.jpeg],
  [Buffer.concat([samples.jpeg, ascii('<script>alert(1)</script>')]), samples.jpeg],
];
const UNREADABLE = Buffer.concat([samples.jpeg.subarray(0, 3), ascii('<script>alert(1)</script>\0\r\n')]);

const metadataRules = FORMS.map((form) =>
  rule(
    `uploads.metadata.${form.id}`,
    `${form.title} removes comments and whatever follows the image. A file that only begins as a JPEG is served byte for byte as image/jpeg.`,
    async (cast) => {
      await wantStored(cast, form, UNREADABLE, 'image/jpeg', 'image/jpeg');
      for (const [uploaded, served] of WITH_METADATA) {
        await wantStored(cast, form, uploaded, 'image/jpeg', 'image/jpeg', served);
      }
    },
  ),
);

/** A valid GIF of so many bytes: its frame is repeated, and the rest is in one local color table more or less. */
function gifOf(size: number): Buffer {
  const header = samples.gif.subarray(0, 19);
  const frame = ascii('\x21\xf9\x04\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b').subarray(0, -1);
  const table = Buffer.concat([ascii('\x2c\0\0\0\0\x01\0\x01\0\x80'), Buffer.alloc(6), ascii('\x02\x02\x44\x01\0')]);
  // Frames of two lengths, coprime, make up every length that is large enough.
  const room = size - header.length - 1;
  let frames = Math.floor(room / frame.length);
  while ((room - frames * frame.length) % table.length !== 0) frames -= 1;
  const tables = (room - frames * frame.length) / table.length;
  const repeated = (part: Buffer, count: number) => Buffer.alloc(part.length * count, part);
  return Buffer.concat([header, repeated(frame, frames), repeated(table, tables), ascii(';')]);
}

const sizeRules = FORMS.flatMap((form) => [
  rule(
    `uploads.size.accepted.${form.id}`,
    `${form.title} accepts an image of exactly 5 MiB.`,
    async (cast) => void (await wantStored(cast, form, gifOf(MAX_BYTES), 'image/gif', 'image/gif')),
  ),

  rule(
    `uploads.size.refused.${form.id}`,
    `${form.title} returns 413 for an image of one byte more than 5 MiB, and stores nothing.`,
    async (cast) => {
      const before = await form.present(cast);
      const answer = await form.send(cast, [form.success, 413], imagePart(gifOf(MAX_BYTES + 1), 'image/gif'));
      if (answer.status !== 413) {
        const larger = await form.send(cast, [form.success, 413], imagePart(gifOf(2 * MAX_BYTES), 'image/gif'));
        expectThat(larger.status !== 413, '413 for an image of one byte more than 5 MiB', answer);
        throw new SkippedError('the service is configured to accept larger images');
      }
      expectEqual(answer, 'the image, as before', await form.present(cast), before);
    },
  ),
]);

const NO_FILE: RawPart = imagePart(Buffer.alloc(0), 'application/octet-stream', '');

const formRules = FORMS.flatMap((form) => [
  rule(
    `uploads.empty-input.${form.id}`,
    `An empty file input (filename="", no bytes) of ${form.title} is no file: the form is taken as without it.`,
    async (cast) => {
      const before = await form.present(cast);
      const field = form.id === 'profile' ? text('name', 'A Name') : form.id === 'edit' ? text('title', 'A title') : [];
      for (const none of [NO_FILE, { ...NO_FILE, type: 'image/png' }, imagePart(Buffer.alloc(0), undefined, '')]) {
        const answer = await form.send(cast, form.success, none, ...[field].flat());
        expectEqual(answer, 'the image', answer.body[form.field], before);
      }
      if (form.id !== 'create') await form.send(cast, 400, NO_FILE);
    },
  ),

  rule(
    `uploads.names.${form.id}`,
    `${form.title} gives each image a random file name: no two begin alike, they have no order, and none has anything of the uploaded name.`,
    async (cast) => {
      const names: string[] = [];
      let last: CheckedResponse | undefined;
      for (let count = 0; count < 8; count++) {
        last = await form.send(cast, form.success, imagePart(samples.png, 'image/png', 'harbour.png'));
        const path: string = last.body[form.field];
        expectThat(/^\/(posts|profiles)\/image\/[^/]{22,}$/.test(path), 'a name of 128 random bits or more', last);
        expectThat(!/harbour/i.test(path), 'nothing of the uploaded name', last);
        names.push(path.split('/').at(-1) ?? '');
      }
      if (!last) return;
      const sorted = [...names].sort();
      const alike = sorted.some((name, index) => index > 0 && name.slice(0, 8) === sorted[index - 1]?.slice(0, 8));
      expectThat(!alike, `names that do not begin alike, not ${names.join(', ')}`, last);
      const ordered = [sorted, [...sorted].reverse()].some((order) => order.join() === names.join());
      expectThat(!ordered, `names without an order, not ${names.join(', ')}`, last);
    },
  ),

  rule(
    `uploads.parts.${form.id}`,
    `${form.title} returns 400 for an image that is repeated, misnamed or text, and for a text that is a file.`,
    async (cast) => {
      const image = imagePart(samples.png, 'image/png');
      expectProblems(await form.send(cast, 400, image, image), 'body.image');
      expectProblems(await form.send(cast, 400, { ...image, name: 'picture' }), 'body.picture');
      expectProblems(await form.send(cast, 400, { ...image, name: 'image[]' }), 'body.image[]');
      expectProblems(await form.send(cast, 400, text('image', 'x')), 'body.image');
      const [name] = form.id === 'profile' ? ['name'] : ['title'];
      const answer = await form.send(cast, 400, imagePart(samples.png, 'image/png'), {
        ...image,
        name: name as string,
      });
      expectProblems(answer, `body.${name}`);
    },
  ),
]);

const removalRules = FORMS.filter(({ removes }) => removes).flatMap((form) => [
  rule(
    `uploads.remove-image.false.${form.id}`,
    `remove_image=false of ${form.title} changes nothing: beside an image the image is stored, alone it is 400.`,
    async (cast) => {
      for (const parts of [
        [text('remove_image', 'false'), imagePart(samples.webp, 'image/webp')],
        [imagePart(samples.gif, 'image/gif'), text('remove_image', 'False')],
      ]) {
        const before = await form.present(cast);
        const answer = await form.send(cast, form.success, ...parts);
        expectThat(answer.body[form.field] && answer.body[form.field] !== before, 'a new image', answer);
        expectEqual(answer, 'the image, as it is read', await form.present(cast), answer.body[form.field]);
        await (await form.user(cast)).send(200, `GET ${answer.body[form.field]}`);
      }
      expectProblems(await form.send(cast, 400, text('remove_image', 'false')), 'body.');
      expectProblems(await form.send(cast, 400, text('remove_image', 'FALSE'), NO_FILE), 'body.');
      const field = form.id === 'profile' ? text('name', 'A Name') : text('title', 'A title');
      const before = await form.present(cast);
      const answer = await form.send(cast, form.success, field, text('remove_image', 'FALSE'));
      expectEqual(answer, 'the image, as before', answer.body[form.field], before);
    },
  ),

  rule(
    `uploads.remove-image.true.${form.id}`,
    `remove_image=true of ${form.title} removes the image, and succeeds without one; together with an image it is 400. Values other than true and false are 400.`,
    async (cast) => {
      const image = await wantStored(cast, form, samples.png, 'image/png', 'image/png');
      for (const value of ['true', 'True', 'TRUE']) {
        const answer = await form.send(cast, 400, imagePart(samples.gif, 'image/gif'), text('remove_image', value));
        expectProblems(answer, 'body.remove_image');
      }
      const both = [imagePart(ascii('no image'), 'image/png'), text('remove_image', 'true')];
      expectProblems(await form.send(cast, 400, ...both), 'body.image', 'body.remove_image');
      for (const value of ['', '1', '0', 'yes', ' true', 'true ', 'null', 'on']) {
        expectProblems(await form.send(cast, 400, text('remove_image', value)), 'body.remove_image');
      }
      const user = await form.user(cast);
      await user.send(200, `GET ${image}`);
      for (const value of ['true', 'TRUE']) {
        const answer = await form.send(cast, form.success, text('remove_image', value));
        expectEqual(answer, 'the image', answer.body[form.field], null);
        expectEqual(answer, 'the image, as it is read', await form.present(cast), null);
      }
      await user.send(404, `GET ${image}`);
    },
  ),

  rule(
    `uploads.replaced.${form.id}`,
    `An image of ${form.title} replaces the one before, which can no longer be downloaded. A form without image and remove_image keeps it.`,
    async (cast) => {
      const first = await wantStored(cast, form, samples.png, 'image/png', 'image/png');
      const second = await wantStored(cast, form, samples.avif, 'image/avif', 'image/avif');
      const user = await form.user(cast);
      await user.send(404, `GET ${first}`);
      const field = form.id === 'profile' ? text('name', 'A Name') : text('title', 'A title');
      const answer = await form.send(cast, form.success, field);
      expectEqual(answer, 'the image, as before', answer.body[form.field], second);
      await user.send(200, `GET ${second}`);
    },
  ),
]);

/** Ways for an image to cease to exist, after which nobody can download it. */
const ENDS: [id: string, says: string, end: (user: User, post: Post) => Promise<CheckedResponse>][] = [
  ['delete', 'DELETE /posts/delete', ({ send }, { id }) => send(200, `DELETE /posts/delete?id=${id}`)],
  [
    'account',
    'DELETE /profiles/me',
    ({ send, password }) => send(200, 'DELETE /profiles/me', { json: { password } } satisfies RequestOptions),
  ],
];

const endRules = ENDS.map(([id, says, end]) =>
  rule(`uploads.ended.${id}`, `${says} removes the stored image of a post.`, async (cast) => {
    const user = id === 'account' ? await cast.register() : await userOf(cast);
    const other = await cast.sharedUser('ada');
    const post = await publish(user, { image: png() });
    const tag = (await other.send(200, `GET ${post.image}`)).headers.get('etag') ?? '';
    await end(user, post);
    for (const headers of [{}, { 'If-None-Match': tag }, { 'If-None-Match': '*' }] as Record<string, string>[]) {
      await other.send(404, `GET ${post.image}`, { headers });
    }
    await other.send(404, `HEAD ${post.image}`);
  }),
);

/** Every kind of file on every form that takes one. */
export const uploads: Subject = {
  name: 'Uploads',
  rules: [...typeRules, ...nearMissRules, ...metadataRules, ...sizeRules, ...formRules, ...removalRules, ...endRules],
};
