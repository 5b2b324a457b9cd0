import { expectEqual, expectThat } from '../expect.js';
import { OTHER_ORIGIN, privateProfile, publicProfile } from '../fixtures.js';
import { rule, type Subject } from '../rule.js';

export const images: Subject = {
  name: 'Images',
  rules: [
    rule(
      'images.download.headers',
      "Images are served with X-Content-Type-Options: nosniff, a Content-Security-Policy with default-src 'none' that allows no scripts, Cache-Control: private, no-cache, Cross-Origin-Resource-Policy: same-site and a strong ETag, even if a page of another origin requests them.",
      async (users) => {
        const { visitor, post, picture } = await publicProfile(users);
        const requests = [post.image, picture].flatMap((path) => [
          visitor.send(200, `GET ${path}`),
          visitor.send(200, `GET ${path}`, { headers: { Origin: OTHER_ORIGIN } }),
        ]);
        for (const response of await Promise.all(requests)) {
          const header = (name: string) => response.headers.get(name) ?? '';
          expectEqual(response, 'X-Content-Type-Options', header('x-content-type-options'), 'nosniff');
          expectEqual(response, 'Cache-Control', header('cache-control'), 'private, no-cache');
          expectEqual(response, 'Cross-Origin-Resource-Policy', header('cross-origin-resource-policy'), 'same-site');
          const policy = header('content-security-policy');
          expectThat(policy.includes("default-src 'none'"), "Content-Security-Policy: default-src 'none'", response);
          const runsNothing =
            !/script-src(-\w+)? +(?! |'none')/.test(policy) || /sandbox(?![^;]*allow-scripts)/.test(policy);
          expectThat(runsNothing, 'a Content-Security-Policy without scripts', response);
          expectThat(/^"[^"]+"$/.test(header('etag')), 'a strong ETag', response);
        }
      },
    ),

    rule(
      'images.download.not-modified',
      'A matching If-None-Match returns 304 without a body and without Content-Length: 0, with the ETag, Cache-Control and Cross-Origin-Resource-Policy of the image. Any other If-None-Match returns the image.',
      async (users) => {
        const { visitor, post, picture } = await publicProfile(users);
        for (const path of [post.image, picture]) {
          const { headers } = await visitor.send(200, `GET ${path}`);
          const etag = headers.get('etag') ?? '';
          for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, `W/"other",${etag} , "another"`, '*']) {
            for (const method of ['GET', 'HEAD']) {
              const response = await visitor.send(304, `${method} ${path}`, { headers: { 'If-None-Match': tag } });
              expectEqual(response, 'the number of bytes', response.bytes.length, 0);
              for (const name of ['etag', 'cache-control', 'cross-origin-resource-policy'])
                expectEqual(response, name, response.headers.get(name), headers.get(name));
              expectThat(response.headers.get('content-length') !== '0', 'no Content-Length: 0', response);
            }
          }
          const otherCase = [etag.toUpperCase(), etag.toLowerCase()].filter((tag) => tag !== etag);
          const others = [
            '"other"',
            'W/"other"',
            '"a, *, b"',
            '',
            etag.slice(1, -1),
            `${etag.slice(0, -1)}x"`,
            ...otherCase,
          ];
          for (const tag of others) {
            await visitor.send(200, `GET ${path}`, { headers: { 'If-None-Match': tag } });
          }
        }
      },
    ),

    rule(
      'images.download.hidden-range',
      'A hidden image returns 404 for HEAD, Range, If-Match and If-Modified-Since. For a user who may see the image, GET with one of these headers returns the whole image.',
      async (users) => {
        const { owner, stranger, post, picture } = await privateProfile(users);
        for (const path of [post.image, picture]) {
          const whole = await owner.send(200, `GET ${path}`);
          await stranger.send(404, `HEAD ${path}`);
          for (const headers of [
            { Range: 'bytes=0-3' },
            { 'If-Match': whole.headers.get('etag') ?? '' },
            { 'If-Modified-Since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
          ] as Record<string, string>[]) {
            await stranger.send(404, `GET ${path}`, { headers });
            const response = await owner.send(200, `GET ${path}`, { headers });
            expectThat(response.bytes.equals(whole.bytes), 'the whole image', response);
          }
        }
      },
    ),

    rule(
      'images.download.malformed-name',
      'A file name that is not the name of an image returns 404, regardless of its form.',
      async (users) => {
        const { visitor, post, picture } = await publicProfile(users);
        for (const path of [post.image, picture]) {
          const name = path.split('/').at(-1) ?? '';
          const [route, stem] = [path.slice(0, -name.length), name.split('.')[0] ?? ''];
          const traversals = ['..%2f..%2fetc%2fpasswd', '..%252f..%252fetc%252fpasswd', '..\\..\\etc\\passwd'];
          const others = ['', '.', '..', '%00', '*', '%F0%9F%90%9F', 'x'.repeat(300), `${'x'.repeat(4000)}.png`];
          const names = [
            ...others,
            ...traversals,
            '%2fetc%2fpasswd',
            "'%20or%20'1'='1",
            ...['', '.', '.jpg', '.PNG', '%00.png'].map((ending) => `${stem}${ending}`),
            ...['.', '/', '%00', '%20'].map((ending) => `${name}${ending}`),
            ...['%20', './', '%2e/', '%2f', 'x%2f..%2f'].map((prefix) => `${prefix}${name}`),
          ];
          for (const other of names) await visitor.send(404, `GET ${route}${other}`);
          await visitor.send(200, `GET ${path}`);
        }
      },
    ),

    rule(
      'images.download.separate-routes',
      'Profile pictures are not served under /posts/image, nor post images under /profiles/image.',
      async (users) => {
        const { visitor, post, picture } = await publicProfile(users);
        await visitor.send(404, `GET ${post.image.replace('/posts/', '/profiles/')}`);
        await visitor.send(404, `GET ${picture.replace('/profiles/', '/posts/')}`);
      },
    ),
  ],
};
