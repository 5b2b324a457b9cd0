import { samples } from '../../../scripts/contract-test/images.js';
import { ATTACKER } from '../addresses.js';
import { type Attack, noErrors, p99, waitForAttack } from '../attack.js';
import { openSocket, rawGet } from '../sockets.js';

const READERS = 60;
const IMAGE_BYTES = 5 * 1024 * 1024;
const ATTACK_MS = { quick: 8_000, full: 30_000 };
const READ_INTERVAL_MS = 200;
const READ_BYTES = 2_048;

/** Returns a file of this size with a PNG signature, without valid chunks or metadata. */
const imageOf = (bytes: number): Blob =>
  new Blob([new Uint8Array(samples.png.subarray(0, 8)), new Uint8Array(bytes - 8)], { type: 'image/png' });

/** One image, read by many clients at 10 KB a second. */
export const trickledImages: Attack = {
  name: 'trickled-images',
  title: '60 clients that read one image of 5 MiB at 10 KB a second',
  skip: process.env.S3_BUCKET ? false : 'needs an S3 server: npm run services -- run -- npm run test:abuse',
  async prepare(target, { honest, attacker }) {
    /** Creates a post and returns the path of its image. */
    const upload = async (token: string, image: Blob) => {
      const { body } = await target.send('POST', '/posts/create', { token, form: { title: 'T', text: 'T', image } });
      return body.image as string;
    };
    const image = new Blob([new Uint8Array(samples.png)], { type: 'image/png' });
    const largeImagePath = await upload(attacker.token, imageOf(IMAGE_BYTES));
    const smallImagePath = await upload(honest.token, image);
    return {
      honestRequests: [
        { name: 'image', method: 'GET', path: smallImagePath, options: { token: honest.token }, everyMs: 100 },
        {
          name: 'upload',
          method: 'POST',
          path: '/posts/create',
          options: { token: honest.token, form: { title: 'T', text: 'T', image } },
          everyMs: 500,
          expected: [201],
        },
      ],
      async run() {
        const sockets = Array.from({ length: READERS }, () => {
          const socket = openSocket(target, { from: ATTACKER });
          // With a listener for this event, bytes are received only by calls of `read`.
          socket.on('readable', () => undefined);
          socket.write(rawGet(largeImagePath, { Authorization: `Bearer ${attacker.token}` }));
          return socket;
        });
        const reading = setInterval(() => {
          for (const socket of sockets) socket.read(READ_BYTES);
        }, READ_INTERVAL_MS);
        await waitForAttack(target, ATTACK_MS);
        clearInterval(reading);
        for (const socket of sockets) socket.destroy();
        return [];
      },
    };
  },
  // The service first fetches the image from S3 for all clients at full speed: an honest client waits for that burst.
  evaluate: (measured) => [p99(measured, 2_000), noErrors(measured)],
};
