import type { CheckedResponse } from '../../exchange.js';
import { expectEqual, expectProblemCodes, expectProblems, expectThat } from '../../expect.js';
import { type Post, png, publish } from '../../fixtures.js';
import { samples } from '../../images.js';
import { rule } from '../../rule.js';
import type { User } from '../../users.js';
import { ascii, EMPTY_FILE_INPUT, expectStored, FORMS, getUploader, imagePart, otherField, textPart } from './forms.js';

export const removeOrReplaceRules = FORMS.filter(({ canRemove }) => canRemove).flatMap((form) => [
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
      expectProblemCodes(await form.send(users, 400, textPart('remove_image', 'false')), 'body. no_changes');
      expectProblemCodes(
        await form.send(users, 400, textPart('remove_image', 'FALSE'), EMPTY_FILE_INPUT),
        'body. no_changes',
      );
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
        expectProblemCodes(
          await form.send(users, 400, textPart('remove_image', value)),
          'body.remove_image not_a_boolean',
        );
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
    `An image sent by ${form.title} replaces the previous image, which can no longer be downloaded, and has another ETag. A form without image or remove_image leaves the image unchanged.`,
    async (users) => {
      const user = await getUploader(users);
      const first = await expectStored(users, form, samples.png, 'image/png', 'image/png');
      const tag = (await user.send(200, `GET ${first}`)).headers.get('etag') ?? '';
      const second = await expectStored(users, form, samples.avif, 'image/avif', 'image/avif');
      await user.send(404, `GET ${first}`);
      const response = await form.send(users, form.successStatus, otherField(form));
      expectEqual(response, 'the image, as before', response.body[form.field], second);
      await user.send(200, `GET ${second}`, { headers: { 'If-None-Match': tag } });
    },
  ),
]);

/** Operations that delete the image of a post. */
const DELETIONS: [id: string, description: string, remove: (user: User, post: Post) => Promise<CheckedResponse>][] = [
  ['delete', 'DELETE /posts/delete', ({ send }, { id }) => send(200, `DELETE /posts/delete?id=${id}`)],
  ['account', 'DELETE /profiles/me', ({ send, password }) => send(200, 'DELETE /profiles/me', { json: { password } })],
];

export const deletionRules = DELETIONS.map(([id, description, remove]) =>
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
