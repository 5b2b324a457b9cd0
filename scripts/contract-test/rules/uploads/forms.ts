import type { CheckedResponse } from '../../exchange.js';
import { expectEqual, expectProblems, expectThat } from '../../expect.js';
import { png, publish, type RawPart, rawForm } from '../../fixtures.js';
import type { TestUsers } from '../../users.js';

/** Returns the bytes of a text, one for each character. */
export const ascii = (text: string) => Buffer.from(text, 'latin1');

export const imagePart = (content: Uint8Array, type?: string, fileName = 'photo.of.me.png'): RawPart => ({
  name: 'image',
  content,
  fileName,
  ...(type !== undefined && { type }),
});

/** An operation whose form accepts an image. */
export interface Form {
  id: string;
  title: string;
  successStatus: number;
  /** Whether the form can remove the image. */
  canRemove: boolean;
  field: 'image' | 'profile_link';
  send(users: TestUsers, wanted: number | number[], ...parts: RawPart[]): Promise<CheckedResponse>;
  /** Returns the path of the current image. If the form creates a post, that of the newest post. */
  readImage(users: TestUsers): Promise<string | null>;
}

export const textPart = (name: string, content: string): RawPart => ({ name, content });

const uploadFixture = (users: TestUsers) =>
  users.shared('uploader', async () => {
    const user = await users.register();
    const post = await publish(user, { image: png() });
    await user.send(200, 'PUT /profiles/me', { form: { image: png() } });
    return { user, post };
  });

/** Returns the user who sends all uploads. */
export const getUploader = async (users: TestUsers) => (await uploadFixture(users)).user;

export const FORMS: Form[] = [
  {
    id: 'create',
    title: 'POST /posts/create',
    successStatus: 201,
    canRemove: false,
    field: 'image',
    async readImage(users) {
      const [newest] = (await (await getUploader(users)).send(200, 'GET /posts/me?limit=1')).body;
      return newest.image;
    },
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
export async function expectRejected(
  users: TestUsers,
  form: Form,
  files: [bytes: Buffer, declared: string | undefined][],
) {
  const before = await form.readImage(users);
  const responses = await Promise.all(
    files.map(async ([bytes, declared]) => {
      const response = await form.send(users, [form.successStatus, 400], imagePart(bytes, declared));
      expectThat(response.status === 400, `400 for a file declared as ${declared ?? 'nothing'}`, response);
      return expectProblems(response, 'body.image');
    }),
  );
  expectEqual(responses[0] as CheckedResponse, 'the image, as before', await form.readImage(users), before);
}

/** Uploads a file, and checks that it is served with this type and these bytes. Returns the path of the image. */
export async function expectStored(
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

/** Returns a field other than the image that the form may contain. */
export const otherField = ({ id }: Form) =>
  id === 'profile' ? textPart('name', 'A Name') : textPart('title', 'A title');

export const EMPTY_FILE_INPUT: RawPart = imagePart(Buffer.alloc(0), 'application/octet-stream', '');
