import { samples } from '../../../scripts/contract-test/client/index.js';
import { picture } from '../../support/service.js';
import { type Attack, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../client.js';
import { latency } from '../measurements.js';

const READERS = 60;
const IMAGE_BYTES = 5 * 1024 * 1024;
const ATTACK_MS = { quick: 8_000, full: 30_000 };
const READ_INTERVAL_MS = 200;
const READ_BYTES = 2_048;

/** A file with a PNG signature, without valid chunks or metadata. */
const LARGE_IMAGE = new Blob([new Uint8Array(samples.png.subarray(0, 8)), new Uint8Array(IMAGE_BYTES - 8)], {
  type: 'image/png',
});

const formOf = (image: Blob) => ({ title: 'T', text: 'T', image });

export const trickledImages: Attack = {
  title: '60 clients that read one image of 5 MiB at 10 KB a second',
  skip: process.env.S3_BUCKET ? false : 'needs an S3 server: npm run services -- run -- npm test -- test/abuse',
  async honestRequests({ honest: { token }, send }) {
    const upload = { token, form: formOf(picture()) };
    const { body: post } = await send('POST', '/posts/create', upload);
    return [
      {
        name: 'image',
        method: 'GET',
        path: post.image,
        options: { token },
        everyMs: 100,
        perAddress: 200,
        expected: [200],
      },
      {
        name: 'upload',
        method: 'POST',
        path: '/posts/create',
        options: upload,
        everyMs: 500,
        perAddress: 200,
        expected: [201],
      },
    ];
  },
  async run(target) {
    const { token } = target.attacker;
    const { body: post } = await target.send('POST', '/posts/create', { token, form: formOf(LARGE_IMAGE) });
    const sockets = Array.from({ length: READERS }, () => {
      const socket = openSocket(target);
      // With a listener for this event, bytes are received only by calls of `read`.
      socket.on('readable', () => undefined);
      socket.write(rawGet(post.image, { Authorization: `Bearer ${token}` }));
      return socket;
    });
    const reading = setInterval(() => {
      for (const socket of sockets) socket.read(READ_BYTES);
    }, READ_INTERVAL_MS);
    await waitForAttack(target, ATTACK_MS);
    clearInterval(reading);
    return [];
  },
  // The service first fetches the image from S3 for all clients at full speed: an honest client waits for that burst.
  measurements: (observation) => [latency(observation, 'image', 0.99, 2_000)],
};
