import type { CheckedResponse } from '../../client/index.js';
import { expectEqual, expectProblems, expectThat } from '../../expect.js';
import { pngFile, publish, type RawPart, rawForm } from '../../fixtures.js';
import { type Rule, rule } from '../../rule.js';
import type { TestUsers } from '../../users.js';

export const textPart = (name: string, content: string): RawPart => ({ name, content });

export const imagePart = (content: Uint8Array, type?: string, fileName = 'photo.of.me.png'): RawPart => ({
  name: 'image',
  content,
  fileName,
  ...(type !== undefined && { type }),
});

export const EMPTY_FILE_INPUT: RawPart = imagePart(Buffer.alloc(0), 'application/octet-stream', '');

/** An operation whose form accepts an image. */
interface Form {
  id: 'create' | 'edit' | 'profile';
  title: string;
  successStatus: number;
  /** Whether the form can remove the image. */
  canRemove: boolean;
  /** The field of the response with the path of the image. */
  field: 'image' | 'profile_link';
}

export const FORMS: [Form, ...Form[]] = [
  { id: 'create', title: 'POST /posts/create', successStatus: 201, canRemove: false, field: 'image' },
  { id: 'edit', title: 'PUT /posts/edit', successStatus: 200, canRemove: true, field: 'image' },
  { id: 'profile', title: 'PUT /profiles/me', successStatus: 200, canRemove: true, field: 'profile_link' },
];

export const [CREATE_FORM] = FORMS;
export const FORMS_WITH_REMOVAL = FORMS.filter(({ canRemove }) => canRemove);

const uploadFixture = (users: TestUsers) =>
  users.shared('uploader', async () => {
    const user = await users.register();
    const post = await publish(user, { image: pngFile() });
    await user.send(200, 'PUT /profiles/me', { form: { image: pngFile() } });
    return { user, post };
  });

export type Uploader = Awaited<ReturnType<typeof getUploader>>;

/** Returns the user who sends all uploads, with functions that send one of the forms. */
export async function getUploader(users: TestUsers, form: Form) {
  const { user, post } = await uploadFixture(users);
  const request = form.id === 'edit' ? `${form.title}?id=${post.id}` : form.title;
  const requiredParts = form.id === 'create' ? [textPart('title', 'A title'), textPart('text', 'A text')] : [];
  const path = { create: '/posts/me?limit=1', edit: `/posts/${post.id}`, profile: '/profiles/me' }[form.id];
  const send = (expected: number | number[], ...parts: RawPart[]) =>
    user.send(expected, request, rawForm(...requiredParts, ...parts));
  return {
    user,
    form,
    /** A field other than the image that the form may contain. */
    otherField: form.id === 'profile' ? textPart('name', 'A Name') : textPart('title', 'A title'),
    send,
    /** Sends a valid form. Returns the response, and the path of the image in it. */
    async submit(...parts: RawPart[]): Promise<{ response: CheckedResponse; image: string | null }> {
      const response = await send(form.successStatus, ...parts);
      return { response, image: response.body[form.field] };
    },
    /** Returns the path of the current image. If the form creates a post, that of the newest post. */
    async readImage(): Promise<string | null> {
      const { body } = await user.send(200, `GET ${path}`);
      return (form.id === 'create' ? body[0] : body)[form.field];
    },
  };
}

/** Creates a rule for each form. The title of the form precedes the predicate. */
export const formRules = (
  id: string,
  predicate: string,
  check: (uploader: Uploader) => Promise<void>,
  forms: Form[] = FORMS,
): Rule[] =>
  forms.map((form) =>
    rule(`uploads.${id}.${form.id}`, `${form.title} ${predicate}`, async (users) =>
      check(await getUploader(users, form)),
    ),
  );

/** A file, and the media type that it is declared as, if any. */
export type UploadedFile = [bytes: Buffer, declared: string | undefined];

/** Sends files concurrently, and checks that all are rejected and the image stays unchanged. */
export async function expectRejected({ form, send, readImage }: Uploader, files: UploadedFile[]) {
  const before = await readImage();
  const responses = await Promise.all(
    files.map(async ([bytes, declared]) => {
      const response = await send([form.successStatus, 400], imagePart(bytes, declared));
      expectThat(response.status === 400, `400 for a file declared as ${declared ?? 'nothing'}`, response);
      return expectProblems(response, 'body.image');
    }),
  );
  expectEqual(responses[0] as CheckedResponse, 'the image, as before', await readImage(), before);
}

/** Uploads a file, and checks that it is served with this type and these bytes. Returns the path of the image. */
export async function expectStored(
  { form, send, user }: Uploader,
  bytes: Buffer,
  declared: string | undefined,
  served: string,
  servedBytes = bytes,
): Promise<string> {
  const response = await send([form.successStatus, 400, 413], imagePart(bytes, declared));
  const isStored = response.status === form.successStatus;
  expectThat(isStored, `${form.successStatus} for a file declared as ${declared ?? 'nothing'}`, response);
  const path: string = response.body[form.field];
  const download = await user.send(200, `GET ${path}`);
  const wanted = servedBytes === bytes ? 'the bytes as they were uploaded' : 'the image without its metadata';
  expectThat(download.bytes.equals(servedBytes), wanted, download);
  expectEqual(download, 'Content-Type', download.headers.get('content-type'), served);
  expectEqual(download, 'Content-Length', download.headers.get('content-length'), String(servedBytes.length));
  return path;
}
