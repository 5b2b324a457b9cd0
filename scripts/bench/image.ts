import { randomBytes } from 'node:crypto';

const HEADER = '\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0';
const END = '\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82';

/** A PNG of 256 KiB, like a photo for the web. Its pixel data is random, because it must not compress and is never decoded. */
export const IMAGE = randomBytes(256 * 1024);
IMAGE.write(`${HEADER}\0\0\0\0`, 'latin1');
IMAGE.writeUInt32BE(IMAGE.length - HEADER.length - END.length - 12, HEADER.length + 4);
IMAGE.write('IDAT', HEADER.length + 8, 'latin1');
IMAGE.write(END, IMAGE.length - END.length, 'latin1');

/** Returns the multipart form that creates a post with this image. */
export async function uploadForm(): Promise<{ type: string; bytes: Buffer }> {
  const form = new FormData();
  form.append('title', 'A photo');
  form.append('text', 'Created by the benchmark.');
  form.append('image', new Blob([IMAGE], { type: 'image/png' }), 'photo.png');
  const response = new Response(form);
  return { type: response.headers.get('content-type') ?? '', bytes: Buffer.from(await response.arrayBuffer()) };
}
