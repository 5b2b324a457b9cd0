/**
 * A PNG of 256 KiB, like a photo for the web. Its pixel data is pseudorandom, because it must not compress and is never
 * decoded.
 */
export const IMAGE = Buffer.alloc(256 * 1024);
let state = 1;
for (let index = 0; index < IMAGE.length; index += 4) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  IMAGE.writeUInt32LE(state, index);
}
IMAGE.write('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0', 'latin1');
IMAGE.writeUInt32BE(IMAGE.length - 57, 33);
IMAGE.write('IDAT', 37, 'latin1');
IMAGE.write('\0\0\0\0IEND\xae\x42\x60\x82', IMAGE.length - 12, 'latin1');

const BOUNDARY = '----bench-4f1c0a';

const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** Returns the multipart form that creates a post with this image. */
export function uploadForm() {
  const head = `${field('title', 'A photo')}${field('text', 'Created by the benchmark.')}--${BOUNDARY}\r\nContent-Disposition: form-data; name="image"; filename="photo.png"\r\nContent-Type: image/png\r\n\r\n`;
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
    bytes: Buffer.concat([Buffer.from(head), IMAGE, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
  };
}
