import { type CheckedResponse, latin1, samples } from '../../client/index.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { type Post, pngFile, publish } from '../../fixtures.js';
import { rule } from '../../rule.js';
import type { User } from '../../users.js';
import {
  CREATE_FORM,
  EMPTY_FILE_INPUT,
  expectStored,
  FORMS_WITH_REMOVAL,
  formRules,
  getUploader,
  imagePart,
  textPart,
} from './forms.js';

const GIF = imagePart(samples.gif, 'image/gif');

/** Operations that delete the image of a post. */
const DELETIONS: [id: string, description: string, remove: (user: User, post: Post) => Promise<CheckedResponse>][] = [
  ['delete', 'DELETE /posts/delete', ({ send }, { id }) => send(200, `DELETE /posts/delete?id=${id}`)],
  ['account', 'DELETE /profiles/me', ({ send, password }) => send(200, 'DELETE /profiles/me', { json: { password } })],
];

const deletionRules = DELETIONS.map(([id, description, remove]) =>
  rule(`uploads.ended.${id}`, `${description} removes the stored image of a post.`, async (users) => {
    const user = id === 'account' ? await users.register() : (await getUploader(users, CREATE_FORM)).user;
    const other = await users.sharedUser('ada');
    const post = await publish(user, { image: pngFile() });
    const tag = (await other.send(200, `GET ${post.image}`)).headers.get('etag') ?? '';
    await remove(user, post);
    for (const headers of [{}, { 'If-None-Match': tag }, { 'If-None-Match': '*' }] as Record<string, string>[]) {
      await other.send(404, `GET ${post.image}`, { headers });
    }
    await other.send(404, `HEAD ${post.image}`);
    if (id === 'delete') await user.send(404, `GET ${post.image}`);
  }),
);

export const removalRules = [
  ...formRules(
    'remove-image.false',
    'ignores remove_image=false: an image in the same form is stored, and a form without other fields returns 400.',
    async ({ otherField, send, submit, readImage, user }) => {
      for (const parts of [
        [textPart('remove_image', 'false'), imagePart(samples.webp, 'image/webp')],
        [GIF, textPart('remove_image', 'False')],
      ]) {
        const before = await readImage();
        const { response, image } = await submit(...parts);
        expectThat(image && image !== before, 'a new image', response);
        expectEqual(response, 'the image in a later response', await readImage(), image);
        await user.send(200, `GET ${image}`);
      }
      expectProblemCodes(await send(400, textPart('remove_image', 'false')), 'body. no_changes');
      expectProblemCodes(await send(400, textPart('remove_image', 'FALSE'), EMPTY_FILE_INPUT), 'body. no_changes');
      const before = await readImage();
      const { response, image } = await submit(otherField, textPart('remove_image', 'FALSE'));
      expectEqual(response, 'the image, as before', image, before);
    },
    FORMS_WITH_REMOVAL,
  ),

  ...formRules(
    'remove-image.true',
    'with remove_image=true removes the image, and succeeds even if there is none. remove_image=true together with an image returns 400, as do values other than true and false.',
    async (uploader) => {
      const { send, submit, readImage, user } = uploader;
      const path = await expectStored(uploader, samples.png, 'image/png', 'image/png');
      for (const value of ['true', 'True', 'TRUE']) {
        const refused = await send(400, GIF, textPart('remove_image', value));
        expectProblemCodes(refused, 'body.remove_image conflicting_fields');
      }
      const both = [imagePart(latin1('no image'), 'image/png'), textPart('remove_image', 'true')];
      expectProblems(await send(400, ...both), 'body.image', 'body.remove_image');
      for (const value of ['', '1', '0', 'yes', ' true', 'true ', 'null', 'on']) {
        expectProblemCodes(await send(400, textPart('remove_image', value)), 'body.remove_image not_a_boolean');
      }
      await user.send(200, `GET ${path}`);
      for (const value of ['true', 'TRUE']) {
        const { response, image } = await submit(textPart('remove_image', value));
        expectEqual(response, 'the image', image, null);
        expectEqual(response, 'the image in a later response', await readImage(), null);
      }
      await user.send(404, `GET ${path}`);
    },
    FORMS_WITH_REMOVAL,
  ),

  ...formRules(
    'replaced',
    'with an image replaces the previous image, which can no longer be downloaded. The new image has another ETag. A form without image or remove_image leaves the image unchanged.',
    async (uploader) => {
      const { otherField, submit, user } = uploader;
      const first = await expectStored(uploader, samples.png, 'image/png', 'image/png');
      const tag = (await user.send(200, `GET ${first}`)).headers.get('etag') ?? '';
      const second = await expectStored(uploader, samples.avif, 'image/avif', 'image/avif');
      await user.send(404, `GET ${first}`);
      const { response, image } = await submit(otherField);
      expectEqual(response, 'the image, as before', image, second);
      await user.send(200, `GET ${second}`, { headers: { 'If-None-Match': tag } });
    },
    FORMS_WITH_REMOVAL,
  ),

  ...deletionRules,
];
