import type { CheckedResponse } from '../exchange.js';
import { expectEqual, expectProblems, expectThat, SkippedError } from '../expect.js';
import { type Post, png, publish, type RawPart, rawForm } from '../fixtures.js';
import { samples } from '../images.js';
import { rule, type Subject } from '../rule.js';
import type { TestUsers, User } from '../users.js';

const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** The accepted image types: sample bytes, the media types they may be declared as, and the type they are served as. */
const IMAGE_TYPES = [
  { id: 'png', bytes: samples.png, served: 'image/png', declared: ['image/png', 'IMAGE/PNG; q=1', 'image/apng'] },
  { id: 'apng', bytes: samples.apng, served: 'image/png', declared: ['image/png', 'image/apng'] },
  { id: 'jpeg', bytes: samples.jpeg, served: 'image/jpeg', declared: ['image/jpeg', 'image/jpg'] },
  { id: 'gif', bytes: samples.gif, served: 'image/gif', declared: ['image/gif'] },
  { id: 'webp', bytes: samples.webp, served: 'image/webp', declared: ['image/webp'] },
  { id: 'avif', bytes: samples.avif, served: 'image/avif', declared: ['image/avif'] },
];
/** Types of a part that do not declare an image type. */
const UNDECLARED_TYPES = ['application/octet-stream', undefined];
const DECLARED_TYPES = [...new Set(IMAGE_TYPES.map(({ served }) => served)), 'text/plain'];

const ascii = (text: string) => Buffer.from(text, 'latin1');
const ftyp = (...brands: string[]) => {
  const box = Buffer.concat([Buffer.alloc(4), ascii(`ftyp${brands[0]}\0\0\0\0${brands.slice(1).join('')}`)]);
  box.writeUInt32BE(box.length);
  return Buffer.concat([box, Buffer.alloc(64)]);
};

/** Files that resemble an accepted image, and the type that they are declared as. */
const NEAR_MISSES: [id: string, description: string, bytes: Buffer, declared: string][] = [
  ['wav', 'WAV, which is RIFF as WebP is', ascii('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0'), 'image/webp'],
  ['avi', 'AVI, which is RIFF as WebP is', ascii('RIFF\x24\0\0\0AVI LIST\x10\0\0\0'), 'image/webp'],
  ['riff', 'RIFF without a form type', ascii('RIFF\x24\0\0\0'), 'image/webp'],
  ['mp4', 'MP4, which has an ftyp box as AVIF has', ftyp('isom', 'isom', 'mp42'), 'image/avif'],
  ['heic', 'HEIC, which has an ftyp box as AVIF has', ftyp('heic', 'mif1', 'heic'), 'image/avif'],
  ['mov', 'QuickTime, which has an ftyp box as AVIF has', ftyp('qt  ', 'qt  '), 'image/avif'],
  ['tiff', 'TIFF', ascii('II*\0\x08\0\0\0\0\0'), 'image/jpeg'],
  ['tiff-big-endian', 'TIFF, big-endian', ascii('MM\0*\0\0\0\x08\0\0'), 'image/png'],
  ['svg', 'SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png'],
  ['svg-declared', 'SVG declared as SVG', ascii('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
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
  ['empty', 'an empty file with a name', Buffer.alloc(0), 'image/png'],
];

const imagePart = (content: Uint8Array, type?: string, fileName = 'photo.of.me.png'): RawPart => ({
  name: 'image',
  content,
  fileName,
  ...(type !== undefined && { type }),
});

/** An operation whose form accepts an image. */
interface Form {
  id: string;
  title: string;
  successStatus: number;
  /** Whether the form can remove the image. */
  canRemove: boolean;
  field: 'image' | 'profile_link';
  send(users: TestUsers, wanted: number | number[], ...parts: RawPart[]): Promise<CheckedResponse>;
  /** Returns the path of the current image, or null if the form creates a post. */
  readImage(users: TestUsers): Promise<string | null>;
}

const textPart = (name: string, content: string): RawPart => ({ name, content });

const uploadFixture = (users: TestUsers) =>
  users.shared('uploader', async () => {
    const user = await users.register();
    const post = await publish(user, { image: png() });
    await user.send(200, 'PUT /profiles/me', { form: { image: png() } });
    return { user, post };
  });

/** Returns the user who sends all uploads. */
const getUploader = async (users: TestUsers) => (await uploadFixture(users)).user;

const FORMS: Form[] = [
  {
    id: 'create',
    title: 'POST /posts/create',
    successStatus: 201,
    canRemove: false,
    field: 'image',
    readImage: async () => null,
    send: async (users, wanted, ...parts) =>
      (await getUploader(users)).send(
        wanted,
        'POST /posts/create',
        rawForm(textPart('title', 'A title'), textPart('text', 'A text'), ...parts),
      ),
  },
  {
    id: 'edit',
    title: 'PUT /posts/edit',
    successStatus: 200,
    canRemove: true,
    field: 'image',
    async readImage(users) {
      const { user, post } = await uploadFixture(users);
      return (await user.send(200, `GET /posts/${post.id}`)).body.image;
    },
    async send(users, wanted, ...parts) {
      const { user, post } = await uploadFixture(users);
      return user.send(wanted, `PUT /posts/edit?id=${post.id}`, rawForm(...parts));
    },
  },
  {
    id: 'profile',
    title: 'PUT /profiles/me',
    successStatus: 200,
    canRemove: true,
    field: 'profile_link',
    readImage: async (users) => (await (await getUploader(users)).send(200, 'GET /profiles/me')).body.profile_link,
    send: async (users, wanted, ...parts) =>
      (await getUploader(users)).send(wanted, 'PUT /profiles/me', rawForm(...parts)),
  },
];

/** Sends files concurrently, and checks that all are rejected and the image stays unchanged. */
async function expectRejected(users: TestUsers, form: Form, files: [bytes: Buffer, declared: string | undefined][]) {
  const before = await form.readImage(users);
  await Promise.all(
    files.map(async ([bytes, declared]) => {
      const response = await form.send(users, [form.successStatus, 400], imagePart(bytes, declared));
      expectThat(response.status === 400, `400 for a file declared as ${declared ?? 'nothing'}`, response);
      expectProblems(response, 'body.image');
    }),
  );
  const user = await getUploader(users);
  const response = await user.send(200, 'GET /profiles/me');
  expectEqual(response, 'the image, as before', await form.readImage(users), before);
}

/** Uploads a file, and checks that it is served with this type and these bytes. Returns the path of the image. */
async function expectStored(
  users: TestUsers,
  form: Form,
  bytes: Buffer,
  declared: string | undefined,
  served: string,
  servedBytes = bytes,
) {
  const response = await form.send(users, [form.successStatus, 400, 413], imagePart(bytes, declared));
  expectThat(
    response.status === form.successStatus,
    `${form.successStatus} for a file declared as ${declared ?? 'nothing'}`,
    response,
  );
  const path: string = response.body[form.field];
  const download = await (await getUploader(users)).send(200, `GET ${path}`);
  const wanted = servedBytes === bytes ? 'the bytes as they were uploaded' : 'the image without its metadata';
  expectThat(download.bytes.equals(servedBytes), wanted, download);
  expectEqual(download, 'Content-Type', download.headers.get('content-type'), served);
  expectEqual(download, 'Content-Length', download.headers.get('content-length'), String(servedBytes.length));
  return path;
}

const typeRules = FORMS.flatMap((form) =>
  IMAGE_TYPES.map(({ id, bytes, served, declared }) =>
    rule(
      `uploads.type.${id}.${form.id}`,
      `${form.title} accepts ${id.toUpperCase()} declared as ${[...declared, 'application/octet-stream'].join(', ')} or without a type, serves it unchanged as ${served}, and returns 400 for any other declared type.`,
      async (users) => {
        // All declared types on one form, two of them on the others.
        const types = form.id === 'create' ? [...declared, ...UNDECLARED_TYPES] : [declared[0], UNDECLARED_TYPES[0]];
        for (const type of types) await expectStored(users, form, bytes, type, served);
        const wrong = DECLARED_TYPES.filter((type) => type !== served);
        await expectRejected(
          users,
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
    `${form.title} returns 400 for a file that is not JPEG, PNG, GIF, WebP or AVIF, regardless of its declared type: ${NEAR_MISSES.map(([, description]) => description).join('; ')}.`,
    async (users) =>
      expectRejected(
        users,
        form,
        NEAR_MISSES.flatMap(([, , bytes, declared]): [Buffer, string | undefined][] => [
          [bytes, declared],
          ...(form.id === 'create' ? ([[bytes, 'application/octet-stream']] as [Buffer, string][]) : []),
        ]),
      ),
  ),
);

const COMMENT = ascii('\xff\xfe\0\x0bIdentify!');
const START = samples.jpeg.subarray(0, 20);
/** JPEGs with metadata or trailing bytes, each with the bytes that are served. */
const WITH_METADATA: [uploaded: Buffer, served: Buffer][] = [
  [Buffer.concat([START, COMMENT, samples.jpeg.subarray(20)]), samples.jpeg],
  [Buffer.concat([samples.jpeg, ascii('<script>alert(1)</script>')]), samples.jpeg],
];
/** A file that has only the start of a JPEG. */
const UNREADABLE = Buffer.concat([samples.jpeg.subarray(0, 3), ascii('<script>alert(1)</script>\0\r\n')]);

const metadataRules = FORMS.map((form) =>
  rule(
    `uploads.metadata.${form.id}`,
    `${form.title} removes comments and bytes after the image. A file that only starts like a JPEG is served unchanged as image/jpeg.`,
    async (users) => {
      await expectStored(users, form, UNREADABLE, 'image/jpeg', 'image/jpeg');
      for (const [uploaded, served] of WITH_METADATA) {
        await expectStored(users, form, uploaded, 'image/jpeg', 'image/jpeg', served);
      }
    },
  ),
);

/** Returns a valid GIF of this size in bytes. It repeats frames with and without a local color table. */
function createGif(sizeBytes: number): Buffer {
  const header = samples.gif.subarray(0, 19);
  const frame = ascii('\x21\xf9\x04\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b').subarray(0, -1);
  const table = Buffer.concat([ascii('\x2c\0\0\0\0\x01\0\x01\0\x80'), Buffer.alloc(6), ascii('\x02\x02\x44\x01\0')]);
  // The two frame lengths are coprime, so they add up to every sufficiently large size.
  const remaining = sizeBytes - header.length - 1;
  let frames = Math.floor(remaining / frame.length);
  while ((remaining - frames * frame.length) % table.length !== 0) frames -= 1;
  const tables = (remaining - frames * frame.length) / table.length;
  const repeat = (part: Buffer, count: number) => Buffer.alloc(part.length * count, part);
  return Buffer.concat([header, repeat(frame, frames), repeat(table, tables), ascii(';')]);
}

const sizeRules = FORMS.flatMap((form) => [
  rule(
    `uploads.size.accepted.${form.id}`,
    `${form.title} accepts an image of exactly 5 MiB.`,
    async (users) => void (await expectStored(users, form, createGif(MAX_IMAGE_BYTES), 'image/gif', 'image/gif')),
  ),

  rule(
    `uploads.size.refused.${form.id}`,
    `${form.title} returns 413 for an image one byte larger than 5 MiB, and stores nothing.`,
    async (users) => {
      const before = await form.readImage(users);
      const response = await form.send(
        users,
        [form.successStatus, 413],
        imagePart(createGif(MAX_IMAGE_BYTES + 1), 'image/gif'),
      );
      if (response.status !== 413) {
        const larger = await form.send(
          users,
          [form.successStatus, 413],
          imagePart(createGif(2 * MAX_IMAGE_BYTES), 'image/gif'),
        );
        expectThat(larger.status !== 413, '413 for an image one byte larger than 5 MiB', response);
        throw new SkippedError('the service is configured to accept larger images');
      }
      expectEqual(response, 'the image, as before', await form.readImage(users), before);
    },
  ),
]);

/** Returns a field other than the image that the form may contain. */
const otherField = ({ id }: Form) => (id === 'profile' ? textPart('name', 'A Name') : textPart('title', 'A title'));

const EMPTY_FILE_INPUT: RawPart = imagePart(Buffer.alloc(0), 'application/octet-stream', '');

const formRules = FORMS.flatMap((form) => [
  rule(
    `uploads.empty-input.${form.id}`,
    `${form.title} treats an empty file input (filename="", no bytes) as no file.`,
    async (users) => {
      const before = await form.readImage(users);
      const fields = form.id === 'create' ? [] : [otherField(form)];
      for (const emptyInput of [
        EMPTY_FILE_INPUT,
        { ...EMPTY_FILE_INPUT, type: 'image/png' },
        imagePart(Buffer.alloc(0), undefined, ''),
      ]) {
        const response = await form.send(users, form.successStatus, emptyInput, ...fields);
        expectEqual(response, 'the image', response.body[form.field], before);
      }
      if (form.id !== 'create') await form.send(users, 400, EMPTY_FILE_INPUT);
    },
  ),

  rule(
    `uploads.names.${form.id}`,
    `${form.title} gives each image a random file name that is not sequential and does not contain the uploaded name.`,
    async (users) => {
      const names: string[] = [];
      let last: CheckedResponse | undefined;
      for (let count = 0; count < 8; count++) {
        last = await form.send(users, form.successStatus, imagePart(samples.png, 'image/png', 'harbour.png'));
        const path: string = last.body[form.field];
        expectThat(/^\/(posts|profiles)\/image\/[^/]{22,}$/.test(path), 'a name of 128 random bits or more', last);
        expectThat(!/harbour/i.test(path), 'a name without the uploaded name', last);
        names.push(path.split('/').at(-1) ?? '');
      }
      if (!last) return;
      const sorted = [...names].sort();
      const hasCommonPrefix = sorted.some(
        (name, index) => index > 0 && name.slice(0, 8) === sorted[index - 1]?.slice(0, 8),
      );
      expectThat(!hasCommonPrefix, `names without a common prefix, not ${names.join(', ')}`, last);
      const ordered = [sorted, [...sorted].reverse()].some((order) => order.join() === names.join());
      expectThat(!ordered, `unordered names, not ${names.join(', ')}`, last);
    },
  ),

  rule(
    `uploads.parts.${form.id}`,
    `${form.title} returns 400 for an image field that is repeated, misnamed or not a file, and for a text field that is a file.`,
    async (users) => {
      const image = imagePart(samples.png, 'image/png');
      expectProblems(await form.send(users, 400, image, image), 'body.image');
      expectProblems(await form.send(users, 400, { ...image, name: 'picture' }), 'body.picture');
      expectProblems(await form.send(users, 400, { ...image, name: 'image[]' }), 'body.image[]');
      expectProblems(await form.send(users, 400, textPart('image', 'x')), 'body.image');
      const { name } = otherField(form);
      const response = await form.send(users, 400, image, { ...image, name });
      expectProblems(response, `body.${name}`);
    },
  ),
]);

const removalRules = FORMS.filter(({ canRemove }) => canRemove).flatMap((form) => [
  rule(
    `uploads.remove-image.false.${form.id}`,
    `${form.title} ignores remove_image=false: an image in the same form is stored, and a form without other fields returns 400.`,
    async (users) => {
      for (const parts of [
        [textPart('remove_image', 'false'), imagePart(samples.webp, 'image/webp')],
        [imagePart(samples.gif, 'image/gif'), textPart('remove_image', 'False')],
      ]) {
        const before = await form.readImage(users);
        const response = await form.send(users, form.successStatus, ...parts);
        expectThat(response.body[form.field] && response.body[form.field] !== before, 'a new image', response);
        expectEqual(response, 'the image, as it is read', await form.readImage(users), response.body[form.field]);
        await (await getUploader(users)).send(200, `GET ${response.body[form.field]}`);
      }
      expectProblems(await form.send(users, 400, textPart('remove_image', 'false')), 'body.');
      expectProblems(await form.send(users, 400, textPart('remove_image', 'FALSE'), EMPTY_FILE_INPUT), 'body.');
      const before = await form.readImage(users);
      const response = await form.send(users, form.successStatus, otherField(form), textPart('remove_image', 'FALSE'));
      expectEqual(response, 'the image, as before', response.body[form.field], before);
    },
  ),

  rule(
    `uploads.remove-image.true.${form.id}`,
    `${form.title} with remove_image=true removes the image, and succeeds even if there is none. remove_image=true together with an image returns 400, as do values other than true and false.`,
    async (users) => {
      const image = await expectStored(users, form, samples.png, 'image/png', 'image/png');
      for (const value of ['true', 'True', 'TRUE']) {
        const response = await form.send(
          users,
          400,
          imagePart(samples.gif, 'image/gif'),
          textPart('remove_image', value),
        );
        expectProblems(response, 'body.remove_image');
      }
      const both = [imagePart(ascii('no image'), 'image/png'), textPart('remove_image', 'true')];
      expectProblems(await form.send(users, 400, ...both), 'body.image', 'body.remove_image');
      for (const value of ['', '1', '0', 'yes', ' true', 'true ', 'null', 'on']) {
        expectProblems(await form.send(users, 400, textPart('remove_image', value)), 'body.remove_image');
      }
      const user = await getUploader(users);
      await user.send(200, `GET ${image}`);
      for (const value of ['true', 'TRUE']) {
        const response = await form.send(users, form.successStatus, textPart('remove_image', value));
        expectEqual(response, 'the image', response.body[form.field], null);
        expectEqual(response, 'the image, as it is read', await form.readImage(users), null);
      }
      await user.send(404, `GET ${image}`);
    },
  ),

  rule(
    `uploads.replaced.${form.id}`,
    `An image sent by ${form.title} replaces the previous image, which can no longer be downloaded. A form without image and remove_image leaves the image unchanged.`,
    async (users) => {
      const first = await expectStored(users, form, samples.png, 'image/png', 'image/png');
      const second = await expectStored(users, form, samples.avif, 'image/avif', 'image/avif');
      const user = await getUploader(users);
      await user.send(404, `GET ${first}`);
      const response = await form.send(users, form.successStatus, otherField(form));
      expectEqual(response, 'the image, as before', response.body[form.field], second);
      await user.send(200, `GET ${second}`);
    },
  ),
]);

/** Operations that delete the image of a post. */
const DELETIONS: [id: string, description: string, remove: (user: User, post: Post) => Promise<CheckedResponse>][] = [
  ['delete', 'DELETE /posts/delete', ({ send }, { id }) => send(200, `DELETE /posts/delete?id=${id}`)],
  ['account', 'DELETE /profiles/me', ({ send, password }) => send(200, 'DELETE /profiles/me', { json: { password } })],
];

const endRules = DELETIONS.map(([id, description, remove]) =>
  rule(`uploads.ended.${id}`, `${description} removes the stored image of a post.`, async (users) => {
    const user = id === 'account' ? await users.register() : await getUploader(users);
    const other = await users.sharedUser('ada');
    const post = await publish(user, { image: png() });
    const tag = (await other.send(200, `GET ${post.image}`)).headers.get('etag') ?? '';
    await remove(user, post);
    for (const headers of [{}, { 'If-None-Match': tag }, { 'If-None-Match': '*' }] as Record<string, string>[]) {
      await other.send(404, `GET ${post.image}`, { headers });
    }
    await other.send(404, `HEAD ${post.image}`);
  }),
);

/** Every kind of file on every form that accepts one. */
export const uploads: Subject = {
  name: 'Uploads',
  rules: [...typeRules, ...nearMissRules, ...metadataRules, ...sizeRules, ...formRules, ...removalRules, ...endRules],
};
