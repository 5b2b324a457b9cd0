import { samples } from '../images.js';
import { problems, rule, type Subject, same, status, want } from '../rule.js';
import { openHouse, png, publish, seclusion } from '../scenes.js';

const UPLOADS = 'Uploads';
const file = (bytes: Uint8Array, type: string, name = 'a picture') => new File([bytes], name, { type });
const text = { title: 'A title', text: 'A text' };

const TYPES: [says: string, bytes: Buffer, declared: string, served: string][] = [
  ['PNG', samples.png, 'image/png', 'image/png'],
  ['JPEG', samples.jpeg, 'image/jpeg', 'image/jpeg'],
  ['GIF', samples.gif, 'image/gif', 'image/gif'],
  ['WebP', samples.webp, 'image/webp', 'image/webp'],
  ['AVIF', samples.avif, 'image/avif', 'image/avif'],
  ['APNG counts as, and is served as, image/png', samples.apng, 'image/apng', 'image/png'],
  ['image/jpg is taken for image/jpeg', samples.jpeg, 'image/jpg', 'image/jpeg'],
  [
    'application/octet-stream declares nothing: the signature alone decides',
    samples.gif,
    'application/octet-stream',
    'image/gif',
  ],
];

/** One form, as a client without a library would spell it. */
function spelled(...parts: [head: string, content: string | Uint8Array][]) {
  const chunks = parts.flatMap(([head, content]) => [
    Buffer.from(`--kit\r\n${head}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from('--kit--\r\n')]),
    headers: { 'Content-Type': 'multipart/form-data; boundary=kit' },
  };
}

const TITLE: [string, string] = ['Content-Disposition: form-data; name="title"', 'A title'];
const TEXT: [string, string] = ['Content-Disposition: form-data; name="text"', 'A text'];

export const images: Subject = {
  name: 'Images',
  rules: [
    ...TYPES.map(([says, bytes, declared, served]) =>
      rule('Rules, images', `${says}: bytes come back exactly as they were sent`, async (cast) => {
        const ada = await cast.person('ada');
        const { image } = await publish(ada, { image: file(bytes, declared) });
        const answer = await ada.ask(200, `GET ${image}`);
        same(answer, 'the type', answer.headers.get('content-type'), served);
        want(answer.bytes.equals(bytes), 'the bytes exactly as they were sent', answer);
        same(answer, 'Content-Length', answer.headers.get('content-length'), String(bytes.length));
      }),
    ),

    rule('Rules, images', 'a part without a type declares nothing', async (cast) => {
      const { ask } = await cast.person('ada');
      const part: [string, Buffer] = ['Content-Disposition: form-data; name="image"; filename="a.png"', samples.png];
      const { body } = await ask(201, 'POST /posts/create', spelled(TITLE, TEXT, part));
      same(
        await ask(200, `GET ${body.image}`),
        'the type',
        (await ask(200, `GET ${body.image}`)).headers.get('content-type'),
        'image/png',
      );
    }),

    rule(
      UPLOADS,
      'checked against its declared Content-Type and its file signature: a mismatch gives 400',
      async (cast) => {
        const { ask } = await cast.person('ada');
        for (const [bytes, declared] of [
          [samples.png, 'image/jpeg'],
          [samples.jpeg, 'image/png'],
          [samples.gif, 'text/html'],
        ] as const) {
          problems(
            await ask(400, 'POST /posts/create', { form: { ...text, image: file(bytes, declared) } }),
            'body.image',
          );
        }
      },
    ),

    rule(UPLOADS, 'a mismatch is not stored', async (cast) => {
      const ada = await cast.person('ada');
      const post = await publish(ada, { image: png() });
      const form = { image: file(samples.jpeg, 'image/png') };
      problems(await ada.ask(400, `PUT /posts/edit?id=${post.id}`, { form }), 'body.image');
      const answer = await ada.ask(200, `GET /posts/${post.id}`);
      same(answer, 'the image, as before', answer.body.image, post.image);
    }),

    rule(
      'Rules, images',
      'The signature at the file’s first byte decides: a file that is no allowed image is 400',
      async (cast) => {
        const { ask } = await cast.person('ada');
        for (const [bytes, declared] of [
          [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
          [Buffer.from('BM not allowed here'), 'image/bmp'],
          [Buffer.from('GIFxyz'), 'image/gif'],
          [Buffer.concat([Buffer.from('\ufeff'), samples.png]), 'image/png'],
          [Buffer.from('<script>alert(1)</script>'), 'application/octet-stream'],
        ] as const) {
          problems(
            await ask(400, 'POST /posts/create', { form: { ...text, image: file(bytes, declared) } }),
            'body.image',
          );
        }
      },
    ),

    rule(UPLOADS, 'profile pictures follow the same file rules', async (cast) => {
      const { ask } = await cast.person('pat');
      problems(await ask(400, 'PUT /profiles/me', { form: { image: file(samples.png, 'image/gif') } }), 'body.image');
      const { body } = await ask(200, 'PUT /profiles/me', { form: { image: file(samples.webp, 'image/webp') } });
      const answer = await ask(200, `GET ${body.profile_link}`);
      want(answer.bytes.equals(samples.webp), 'the bytes exactly as they were sent', answer);
    }),

    rule('Status codes', 'An empty file input is no file', async (cast) => {
      const ada = await cast.person('ada');
      const none: [string, string] = [
        'Content-Disposition: form-data; name="image"; filename=""\r\nContent-Type: application/octet-stream',
        '',
      ];
      const answer = await ada.ask(201, 'POST /posts/create', spelled(TITLE, TEXT, none));
      same(answer, 'image', answer.body.image, null);
    }),

    rule('Status codes', 'a repeated or misnamed file: 400', async (cast) => {
      const { ask } = await cast.person('ada');
      const form = new FormData();
      for (const [name, value] of Object.entries(text)) form.append(name, value);
      for (let count = 0; count < 2; count++) form.append('image', png());
      problems(await ask(400, 'POST /posts/create', { form }), 'body.image');
      problems(await ask(400, 'POST /posts/create', { form: { ...text, picture: png() } }), 'body.picture');
    }),

    rule('Status codes', 'text where a file belongs, and a file where text belongs: 400', async (cast) => {
      const { ask } = await cast.person('ada');
      problems(await ask(400, 'POST /posts/create', { form: { ...text, image: 'none' } }), 'body.image');
      problems(await ask(400, 'POST /posts/create', { form: { ...text, title: png() } }), 'body.title');
    }),

    rule('Status codes', 'a file over the limit: 413', async (cast) => {
      const { ask } = await cast.person('ada');
      const bytes = Buffer.concat([samples.png, Buffer.alloc(5 * 1024 * 1024)]);
      const answer = await ask([201, 413], 'POST /posts/create', {
        form: { ...text, image: file(bytes, 'image/png') },
      });
      // An operator may allow more.
      if (answer.status === 201) await ask(200, `DELETE /posts/delete?id=${answer.body.id}`);
      else same(answer, 'the fields', Object.keys(answer.body), ['message']);
    }),

    rule('Status codes', 'an empty multipart, one without a boundary, one that is cut short: 400', async (cast) => {
      const { ask } = await cast.person('ada');
      const type = (value: string) => ({ 'Content-Type': value });
      await ask(400, 'POST /posts/create', { body: '--kit--\r\n', headers: type('multipart/form-data; boundary=kit') });
      await ask(400, 'POST /posts/create', { body: 'title=x', headers: type('multipart/form-data') });
      const { body, headers } = spelled(TITLE, TEXT);
      await ask(400, 'POST /posts/create', { body: body.subarray(0, -12), headers });
    }),

    rule('Posts', 'Omitting both image and remove_image on edit keeps the current image', async (cast) => {
      const ada = await cast.person('ada');
      const { id, image } = await publish(ada, { image: png() });
      const answer = await ada.ask(200, `PUT /posts/edit?id=${id}`, { form: { text: 'Another' } });
      same(answer, 'the image', answer.body.image, image);
      await ada.ask(200, `GET ${image}`);
    }),

    rule('Posts, PUT /posts/edit', 'image replaces the image, whose bytes are gone', async (cast) => {
      const ada = await cast.person('ada');
      const { id, image } = await publish(ada, { image: png() });
      const answer = await ada.ask(200, `PUT /posts/edit?id=${id}`, {
        form: { image: file(samples.gif, 'image/gif') },
      });
      want(answer.body.image !== null && answer.body.image !== image, 'an image of another name', answer);
      await ada.ask(404, `GET ${image}`);
      want((await ada.ask(200, `GET ${answer.body.image}`)).bytes.equals(samples.gif), 'the new bytes', answer);
    }),

    rule('Posts, PUT /posts/edit', 'remove_image removes the image', async (cast) => {
      const ada = await cast.person('ada');
      const { id, image } = await publish(ada, { image: png() });
      const answer = await ada.ask(200, `PUT /posts/edit?id=${id}`, { form: { remove_image: 'true' } });
      same(answer, 'image', answer.body.image, null);
      await ada.ask(404, `GET ${image}`);
    }),

    rule('Posts', 'An image together with remove_image=true is invalid', async (cast) => {
      const ada = await cast.person('ada');
      const { id } = await publish(ada);
      problems(
        await ada.ask(400, `PUT /posts/edit?id=${id}`, { form: { image: png(), remove_image: 'true' } }),
        'body.remove_image',
      );
    }),

    rule('Representation, image', 'File names are random, never derived from the user’s file name', async (cast) => {
      const ada = await cast.person('ada');
      const [one, two] = [await publish(ada, { image: png() }), await publish(ada, { image: png() })];
      const answer = await ada.ask(200, `GET ${one.image}`);
      want(one.image !== two.image && !/picture/.test(`${one.image}`), 'a random name for each', answer);
      want(/^\/posts\/image\/[^/]{16,}$/.test(one.image ?? ''), 'the path of the image route', answer);
    }),

    rule(
      'Rules, images',
      'served with nosniff, a CSP that runs nothing, Cache-Control: private, no-cache and a strong ETag',
      async (cast) => {
        const { visitor, post, picture } = await openHouse(cast);
        for (const path of [post.image, picture]) {
          const answer = await visitor.ask(200, `GET ${path}`);
          const header = (name: string) => answer.headers.get(name) ?? '';
          same(answer, 'X-Content-Type-Options', header('x-content-type-options'), 'nosniff');
          same(answer, 'Cache-Control', header('cache-control'), 'private, no-cache');
          want(
            /default-src 'none'/.test(header('content-security-policy')),
            "Content-Security-Policy: default-src 'none'",
            answer,
          );
          want(/^"[^"]+"$/.test(header('etag')), 'a strong ETag', answer);
        }
      },
    ),

    rule('Rules, images', '304 for a copy that is still good, 200 for another', async (cast) => {
      const { visitor, post, picture } = await openHouse(cast);
      for (const path of [post.image, picture]) {
        const etag = (await visitor.ask(200, `GET ${path}`)).headers.get('etag') ?? '';
        for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const answer = await visitor.ask(304, `GET ${path}`, { headers: { 'If-None-Match': tag } });
          same(answer, 'bytes', answer.bytes.length, 0);
        }
        await visitor.ask(200, `GET ${path}`, { headers: { 'If-None-Match': '"other"' } });
      }
    }),

    ...(['post', 'profile'] as const).map((kind) =>
      rule('Rules, images', `304 only after the visibility check: a ${kind}’s image, by its tag`, async (cast) => {
        const { owner, stranger, post, picture } = await seclusion(cast);
        const path = kind === 'post' ? post.image : picture;
        const etag = (await owner.ask(200, `GET ${path}`)).headers.get('etag') ?? '';
        for (const tag of [etag, '*']) {
          await stranger.ask(404, `GET ${path}`, { headers: { 'If-None-Match': tag } });
        }
      }),
    ),

    rule('Visibility rules 5', 'Image downloads: no part of a hidden image either', async (cast) => {
      const { stranger, post } = await seclusion(cast);
      await stranger.ask(404, `GET ${post.image}`, { headers: { Range: 'bytes=0-3' } });
      await stranger.ask(404, `HEAD ${post.image}`);
    }),

    rule('Errors', 'An image that is missing and one that is hidden: 404 with the same body', async (cast) => {
      const { stranger, post, picture } = await seclusion(cast);
      for (const [missing, hidden] of [
        ['/posts/image/none.png', post.image],
        ['/profiles/image/none.png', picture],
      ]) {
        const answer = await stranger.ask(404, `GET ${hidden}`);
        same(answer, 'the body', answer.body, (await stranger.ask(404, `GET ${missing}`)).body);
      }
    }),

    rule('Errors', 'A file name of any shape that names nothing is 404', async (cast) => {
      const { ask } = await cast.person('ada');
      for (const name of ['..%2f..%2fetc%2fpasswd', '%00', '%F0%9F%90%9F', '.', 'x'.repeat(300)]) {
        for (const route of ['posts', 'profiles']) status(await ask(404, `GET /${route}/image/${name}`), 404);
      }
    }),

    rule('Uploads', 'A post’s image is no profile picture, nor the reverse', async (cast) => {
      const { visitor, post, picture } = await openHouse(cast);
      await visitor.ask(404, `GET ${post.image.replace('/posts/', '/profiles/')}`);
      await visitor.ask(404, `GET ${picture.replace('/profiles/', '/posts/')}`);
    }),
  ],
};
